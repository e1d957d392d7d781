// Bounds check, the second half of verify: proves on the plan that every tile stays inside its tensor and
// every buffer's layout inside its memory, that no two elements of a buffer have the same address, that every
// access is aligned to its width, and that the padding of a matmul's operand is written.
// Before: place_buffers. Throws Rejected with the tensor, the numbers that are wrong and what would be right.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void verify_bounds(const KernelPlan&, const Program&);

/// Offset of element `at` of partial sum `part` within a stage of the buffer, in elements.
std::int64_t offset_of(const Buffer&, const Shape& at, std::int64_t part = 0);

}  // namespace zellige::plan
