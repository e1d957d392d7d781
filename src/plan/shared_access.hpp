// What a loop nest reads and writes in shared memory besides matrix loads and asynchronous copies: one entry a place in its text,
// where it lies from the nest's own coordinate, and how wide it is.
//
//   for (const SharedAccess& a : nest_accesses(plan, tasks)) ...   // tasks of one context, evaluated together
//
// A value is read once for each coordinate at which the nest's expressions want it, and again in another scope: behind another
// guard, or in a branch of a concatenation. The emitter writes the same (expression.cpp, evaluate_text.cpp); tests/predict holds
// the two equal.
#pragma once
#include <optional>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Elements that one access of a nest moves, which comes to `vector` neighbours along `inner`, from a multiple of it and `shift` on.
int access_width(const Buffer&, int inner, int vector, std::int64_t shift = 0);

/// Along one dimension, from the nest's coordinate: min(at[from] + offset, last) + behind.
struct Place {
  int from = -1;                                   // a dimension of the nest; -1: none, and 0
  std::int64_t offset = 0, last = -1, behind = 0;  // last -1: whatever comes
  auto operator<=>(const Place&) const = default;
  std::int64_t of(const Shape& at) const {
    const std::int64_t here = (from < 0 ? 0 : at[static_cast<std::size_t>(from)]) + offset;
    return (last >= 0 && here > last ? last : here) + behind;
  }
};
/// It is done only where the place is below, or is not.
struct Branch {
  Place at;
  std::int64_t below = 0;
  bool holds = true;
};
constexpr int own_part = -1;
struct SharedAccess {
  int buffer = -1;
  bool load = true;
  int bytes = 4;
  int part = 0;           // partial result; own_part: of the warps that hold one each, their own
  std::vector<Place> at;  // by dimension of the buffer
  std::vector<Branch> where;
};

/// nullopt where it depends on the block or iteration: what lies past a tensor's edge is neither evaluated nor stored.
std::optional<std::vector<SharedAccess>> nest_accesses(const KernelPlan&, const std::vector<int>& tasks);

/// The shape that a task in a fragment fills: a padded operand takes zeros beyond the tile.
const Shape& written(const KernelPlan&, const Task&);

/// Which of a fragment's items are anybody's: where its tiles pass what the task may write, only those below.
struct Guard {
  int axis;
  std::int64_t below;
};
std::vector<Guard> guards(const KernelPlan&, const Task&);

}  // namespace zellige::plan
