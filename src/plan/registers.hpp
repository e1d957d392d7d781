// Estimates the registers that a kernel's threads need, sets the bound for __launch_bounds__ of kernels with FMA matmuls, and
// divides N of a matmul whose accumulators exceed a thread's registers into slices, which are computed one after another.
#pragma once
#include "plan/pipeline.hpp"

namespace zellige::plan {

/// Returns the estimated registers per thread: accumulators, loop states, partial results, rows that are held, and the
/// operands of FMA matmuls, plus a constant for everything else. The result is at least 32 and at most the target's
/// limit.
std::int64_t registers_of_thread(const kernel::Kernel&, const selection::Tasks&, const target::Target&);

/// Sets Kernel::together, the number of blocks per multiprocessor for which ptxas must limit registers,
/// if the kernel has an FMA matmul and more than one block fits. Without the bound ptxas prefetches in the
/// unrolled loop with all registers it may use. Requires shared memory to be placed.
void bound_registers(kernel::Kernel&, const target::Target&);

/// Slices all matmuls whose accumulators need too many registers per thread. The thread-value layout of a sliced matmul
/// then repeats once per slice. The matmul and the tasks that read its accumulators, which are written to shared or global
/// memory, or reduced, before the next slice begins, become adjacent in their phase.
void slice_fragments(kernel::Kernel&, const selection::Tasks&, selection::PhasedTasks&);

}  // namespace zellige::plan
