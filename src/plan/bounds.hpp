// Bounds: proves on the plan that every tile stays inside its tensor and every buffer's layout inside its memory, that no
// two elements of a buffer share a place, that every access is aligned to its width, and that a product's operand is written with
// its padding. The second half of verify.
// Before: place_buffers. Throws Rejected with the tensor, the numbers that clash and what would be right.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void verify_bounds(const KernelPlan&, const Program&);

/// Where element `at` of partial sum `part` lies in a stage of the buffer, in elements.
std::int64_t offset_of(const Buffer&, const Shape& at, std::int64_t part = 0);

}  // namespace zellige::plan
