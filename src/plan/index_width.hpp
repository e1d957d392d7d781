// Chooses the width of the indices in a kernel's source: 32 bits, or 64 if a tensor's extents and strides
// exceed them.
//
// Before: lower, layouts (the tensors' strides). After: `wide` and `far`; verify_bounds proves both from the
// same extents.
#pragma once
#include <limits>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

constexpr std::int64_t max_int32 = std::numeric_limits<std::int32_t>::max();

/// The largest coordinates, and the largest offset in elements, that a load or store computes. The last
/// tile's overhang and padding count: their addresses are computed, though not used.
struct Reach {
  std::vector<std::int64_t> coordinate;
  std::int64_t offset = 0;
  bool far() const;  // some coordinate exceeds 32 bits
};
/// Requires a node of the plan itself.
Reach reach(const KernelPlan&, const Node&, const graph::KernelTensor&);

void index_width(KernelPlan&, const Program&);

}  // namespace zellige::plan
