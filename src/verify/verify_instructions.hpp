// Proves what a kernel's steps take for granted of the instructions that they name, and of the target. Nothing of it is left to a
// compiler or driver to refuse.
//
// - A product and a copy are by the instruction that the target has for them: the types and columns that it multiplies, the
//   memories between which it copies, the bytes of an access.
// - Accesses to global memory are aligned to their width, by the strides and places of their tensors.
// - A tensor map can be encoded.
// - Mbarriers are aligned, disjoint, and within the block's shared memory.
#pragma once
#include "kernel/kernel.hpp"
#include "target/target.hpp"

namespace zellige::verify {

/// Throws Rejected, with the step, tensor or channel and both numbers, where one of these does not hold. Requires that
/// place_buffers() has assigned the buffers' addresses.
void verify_instructions(const kernel::Kernel&, const tile::TilePrograms&, const target::Target&);

}  // namespace zellige::verify
