// Estimates the registers that a kernel's threads need, and sets the bound for __launch_bounds__ of kernels with FMA
// matmuls.
#pragma once
#include "kernel/kernel.hpp"
#include "selection/task.hpp"

namespace zellige::plan {

/// Returns the estimated registers per thread: accumulators, loop states, partial results, rows that are held, and the
/// operands of FMA matmuls, plus a constant for everything else. The result is at least 32 and at most the target's
/// limit.
std::int64_t registers_of_thread(const kernel::Kernel&, const selection::Tasks&, const target::Target&);

/// Sets Kernel::together, the number of blocks per multiprocessor for which ptxas must limit registers,
/// if the kernel has an FMA matmul and more than one block fits. Without the bound ptxas prefetches in the
/// unrolled loop with all registers it may use. Requires shared memory to be placed.
void bound_registers(kernel::Kernel&, const target::Target&);

}  // namespace zellige::plan
