// Estimates the registers that a plan's threads need, and the blocks per multiprocessor that they allow.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Registers per thread: those that hold tasks' results, and the operands of FMA matmuls.
std::int64_t registers_of_thread(const KernelPlan&, const target::Target&);

/// Blocks of `threads` threads per multiprocessor, as limited by registers, threads and shared memory; at
/// least 1.
int blocks_together(const KernelPlan&, const target::Target&, std::int64_t threads);

/// Sets the blocks per multiprocessor for which ptxas limits registers, because FMA loops are unrolled and it
/// would prefetch with all registers it may use. Before: places are known. After: KernelPlan::together.
void bound_registers(KernelPlan&, const target::Target&);

}  // namespace zellige::plan
