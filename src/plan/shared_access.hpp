// What a loop nest reads and writes in shared memory besides matrix loads and asynchronous copies: one entry a place in its text,
// where it lies from the nest's own coordinate, and how wide it is.
//
//   for (const SharedAccess& a : nest_accesses(plan, tasks)) ...   // tasks of one context, evaluated together
//
// Those of evaluate(), which the emitter prints; tests/predict holds them equal to what the emulator counts.
#pragma once
#include <optional>

#include "plan/evaluation.hpp"

namespace zellige::plan {

/// It is done only where the place is below, or is not.
struct Branch {
  Place at;
  std::int64_t below = 0;
  bool holds = true;
};
constexpr int own_part = -1;
/// Done by every thread of the nest; where several hold one value, the first of them stores it.
struct SharedAccess {
  int buffer = -1;
  bool load = true;
  int bytes = 4;
  int part = 0;           // partial result; own_part: of the warps that hold one each, their own
  std::vector<Place> at;  // by dimension of the buffer
  std::vector<Branch> where;
  bool invariant = false;  // done once in front of the loop along axis 0
};

/// nullopt where it depends on the block or iteration: what lies past a tensor's edge is neither evaluated nor stored.
std::optional<std::vector<SharedAccess>> nest_accesses(const KernelPlan&, const std::vector<int>& tasks);

}  // namespace zellige::plan
