// Proves that the accesses of a planned kernel are in bounds and aligned. The verifier of schedules
// (verify.hpp) does not cover this. Proved are:
//
// - every tile stays inside its tensor or has a bounds check;
// - every buffer's layout stays inside its memory, no two elements have the same address, and every vector of 16 bytes
//   is aligned;
// - every copy is aligned to its access width;
// - the zeros that a matmul reads in the padding of an operand's tile are written.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::plan {

/// Throws Rejected if an access of the planned kernel may be out of bounds or misaligned, or if elements of a buffer
/// overlap. Requires that place_buffers() has assigned the buffers' addresses.
void verify_bounds(const Kernel&, const Program&);

}  // namespace zellige::plan
