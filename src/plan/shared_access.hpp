// Lists what a loop nest reads and writes in shared memory besides matrix loads and asynchronous copies: one
// entry per access in its source, with its place relative to the nest's coordinate, and its width.
//
//   for (const SharedAccess& a : nest_accesses(plan, tasks)) ...   // tasks of one context, evaluated together
//
// The accesses are those of evaluate(), which the emitter prints; tests/predict checks that they equal the
// emulator's counters.
#pragma once
#include <optional>

#include "plan/evaluation.hpp"

namespace zellige::plan {

/// A condition of an access: the place is below the limit, or is not.
struct Branch {
  Place at;
  std::int64_t below = 0;
  bool holds = true;
};
constexpr int own_part = -1;
/// An access by every thread of the nest; if several hold one value, the first of them stores it.
struct SharedAccess {
  int buffer = -1;
  bool load = true;
  int bytes = 4;
  int part = 0;           // partial result; own_part: each warp's own
  std::vector<Place> at;  // by dimension of the buffer
  std::vector<Branch> where;
  bool invariant = false;  // executed once before the loop along axis 0
};

/// Returns nullopt if it depends on the block or iteration, because out-of-bounds elements are neither
/// evaluated nor stored.
std::optional<std::vector<SharedAccess>> nest_accesses(const KernelPlan&, const std::vector<int>& tasks);

}  // namespace zellige::plan
