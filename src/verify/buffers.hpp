// Proves what a kernel says of its tensors in shared memory: that it follows from the values that lie there, and that each of their
// elements has a place of its own.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::verify {

/// Throws Rejected unless each tensor in shared memory has the dtype and shape of its value, and the padding that the
/// instructions read that multiply it; the swizzle and boxes of TMA or wgmma, if these address it; stages, if copies fill it in each
/// iteration; partial results, if threads leave such.
void verify_buffers(const kernel::Kernel&);

/// Throws Rejected unless
///
/// - every layout in shared memory stays inside the tensor's memory, no two elements have the same address, and every vector of 16
///   bytes is aligned;
/// - every copy into shared memory is aligned to its access width;
/// - the zeros that a matmul reads in the padding of an operand's tile are written.
///
/// Requires that place_buffers() has assigned the addresses.
void verify_bounds(const kernel::Kernel&);

}  // namespace zellige::verify
