// Estimates the registers that a kernel's threads need and the number of blocks per multiprocessor that fit,
// and sets the bound for __launch_bounds__ of kernels with FMA matmuls.
#pragma once
#include "kernel/kernel.hpp"
#include "select/task.hpp"

namespace zellige::plan {

/// Returns whether the kernel's rows go through registers (select/row_registers.hpp). Its loads are then all in flight together.
bool holds_rows(const Kernel&);

/// Returns the estimated registers per thread: accumulators, loop states, partial results, rows that are held, and the
/// operands of FMA matmuls, plus a constant for everything else. The result is at least 32 and at most the target's
/// limit.
std::int64_t registers_of_thread(const Kernel&, const Tasks&, const target::Target&);

/// Returns how many blocks of `threads` threads fit on a multiprocessor at a time, as limited by registers,
/// threads and shared memory; at least 1.
int blocks_together(const Kernel&, const target::Target&, std::int64_t threads);

/// Sets Kernel::together, the number of blocks per multiprocessor for which ptxas must limit registers,
/// if the kernel has an FMA matmul and more than one block fits. Without the bound ptxas prefetches in the
/// unrolled loop with all registers it may use. Requires shared memory to be placed.
void bound_registers(Kernel&, const target::Target&);

}  // namespace zellige::plan
