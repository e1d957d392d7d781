// Instruction selection: for each matmul mma.sync, outer products of the threads or a sum at a time, how its warps are laid
// over batch, M, N and K, and whether its A operand can stay in the registers that another matmul's accumulators leave it in.
// Before: a lowered program. After: KernelPlan::matmuls has every live matmul.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void select(KernelPlan&, const target::Target&);

/// Accumulator registers a thread holds under a layout.
std::int64_t accumulator_registers(const MatmulChoice&, const WarpLayout&);

}  // namespace zellige::plan
