// Proves that a kernel's tasks (matmuls, loop nests, ...) find the right values in registers: for each value that a
// task reads from a register, an earlier task has left that value in the same register of the same thread.
//
// This covers accumulators that become A fragments, fragments and loop states that elementwise tasks read,
// partial results of reductions, and accumulators that are computed one slice of N at a time. Where a
// buffer is read without a barrier, it proves that each thread reads only what it wrote.
//
// The thread-value layouts are evaluated from the instruction descriptors (fragments.hpp), independently of
// the planner's decisions.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::verify {

/// Throws Rejected if a task reads a register that does not contain the value it expects, with the tasks that write and
/// read it, and the coordinates of both elements. Requires a complete plan.
void verify_registers(const kernel::Kernel&);

}  // namespace zellige::verify
