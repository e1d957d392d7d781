// Proves the element bounds of a planned kernel, which the verifier of its schedule does not cover (verify.hpp):
//
// - every tile stays inside its tensor or is guarded, and offsets and coordinates fit their 32 or 64 bits;
// - every buffer's layout stays inside its memory, and no two elements have the same address;
// - every copy is aligned to its width;
// - the zeros that a matmul reads in the padding of an operand's tile are written.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Throws Rejected if an access of the planned kernel may be out of bounds or misaligned, if an index may overflow, or
/// if elements of a buffer overlap. The message names the kernel, the tensor and the numbers. Requires that
/// place_buffers() has assigned the buffers' addresses.
void verify_bounds(const KernelPlan&, const Program&);

/// Returns the offset, in elements from the start of a stage of the buffer, of the element at coordinate `at` of
/// partial result number `part`.
std::int64_t offset_of(const Buffer&, const Shape& at, std::int64_t part = 0);

}  // namespace zellige::plan
