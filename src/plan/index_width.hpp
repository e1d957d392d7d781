// How wide the indices of a kernel's text must be: 32 bits, but where a tensor's extents and strides pass them.
//
// Before: lower, layouts (the tensors' strides). After: `wide` and `far`; verify_bounds proves both from the same extents.
#pragma once
#include <limits>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

constexpr std::int64_t most_narrow = std::numeric_limits<std::int32_t>::max();

/// The largest coordinates, and the largest offset in elements, that the text of a load or store computes. The last tile's
/// overhang and padding count: their addresses are computed, and only then not used.
struct Reach {
  std::vector<std::int64_t> coordinate;
  std::int64_t offset = 0;
  bool far() const;  // some coordinate passes 32 bits
};
/// A node of the plan's own.
Reach reach(const KernelPlan&, const Node&, const graph::KernelTensor&);

void index_width(KernelPlan&, const Program&);

}  // namespace zellige::plan
