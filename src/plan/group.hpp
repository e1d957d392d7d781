// Chooses the thread-value layout in which each value of a kernel is evaluated, and which values go through shared
// memory: creates the plan's tasks, their layouts (contexts), buffers and dependences.
//
// Elementwise operators are not stored. They are evaluated where they are read, from the nearest loads, accumulators
// and reductions (leaves.hpp). Values that must be stored are matmul operands, reductions, accumulators and the
// kernel's outputs. Each is evaluated in the layout of an operand of equal shape that is in registers, if there is
// one, else in a blocked layout. Consequently:
//
// - an elementwise chain after a matmul runs on the accumulators;
// - two matmuls with one layout are added in registers;
// - P = exp(Q K) goes from accumulators to the next matmul's A fragments.
//
// A register value that is read in another layout is written to shared memory once. Whether a reader needs a
// barrier is found by evaluating both layouts: it needs none if every thread reads only what it wrote.
#pragma once
#include "plan/direct.hpp"

namespace zellige::plan {

/// Fills in the plan's contexts, buffers, tasks, copies, direct, context_of and buffer_of. Requires the choice of the
/// matmuls' instructions and of the contiguous dimension of every tensor and tile.
void group(KernelPlan&, const Program&, const target::Target&, Loads = Loads::as_fits);

}  // namespace zellige::plan
