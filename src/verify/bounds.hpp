// Proves that the accesses of a planned kernel are in bounds, aligned and without overflow. The verifier of schedules
// (verify.hpp) does not cover this. Proved are:
//
// - every tile stays inside its tensor or has a bounds check, and offsets and coordinates fit their 32 or 64 bits;
// - every buffer's layout stays inside its memory, and no two elements have the same address;
// - every copy is aligned to its access width;
// - the zeros that a matmul reads in the padding of an operand's tile are written.
#pragma once
#include "kernel/kernel_plan.hpp"

namespace zellige::plan {

/// Throws Rejected if an access of the planned kernel may be out of bounds or misaligned, if an index may overflow, or
/// if elements of a buffer overlap. The message names the kernel, the tensor and the numbers. Requires that
/// place_buffers() has assigned the buffers' addresses.
void verify_bounds(const KernelPlan&, const Program&);

/// Returns the offset of the element at coordinate `at`, in elements from the start of the buffer's stage. `part` is
/// the index of the partial result, if the buffer has several.
std::int64_t offset_of(const Buffer&, const Shape& at, std::int64_t part = 0);

}  // namespace zellige::plan
