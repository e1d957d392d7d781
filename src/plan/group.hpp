// Chooses the thread-value layout in which each value of a kernel is evaluated, and which values go through shared
// memory: creates the plan's tasks, their layouts (contexts), buffers and dependences.
//
// Elementwise operators are not stored. They are evaluated where they are read, from the nearest loads, accumulators
// and reductions (leaves.hpp). Values that must be stored are matmul operands, reductions, accumulators and the
// kernel's outputs. Each value that is stored is evaluated in the layout of an operand of equal shape that is in
// registers, if there is one; otherwise in a blocked layout. Consequently:
//
// - an elementwise chain after a matmul runs on the accumulators;
// - the results of two matmuls with the same layout are added in registers;
// - P = exp(Q K) goes from accumulators to the next matmul's A fragments.
//
// A kernel whose rows go through registers (row_registers.hpp) has one layout for all its tiles, and no buffer: loads
// are read where they are used, and values that several tasks need are evaluated once, by a task of their own.
//
// A register value that is read in another layout is written to shared memory once. Whether a reader needs a barrier
// is found by evaluating both layouts: it needs none if every thread reads only what it wrote.
#pragma once
#include "selection/copies.hpp"

namespace zellige::plan {

/// Begins a kernel that computes the tile program of a selection. Returns the kernel's tasks, and creates their
/// thread-value layouts, buffers and copies. Sets Kernel::rmem and tensors.
/// `Loads` says whether tiles that no tensor core reads may be in shared memory. Requires that the contiguous dimensions
/// of all tensors and tiles are chosen.
selection::Tasks group(kernel::Kernel&, const selection::Selection&, const tile::TilePrograms&, const target::Target&,
                       selection::Loads = selection::Loads::as_fits);

}  // namespace zellige::plan
