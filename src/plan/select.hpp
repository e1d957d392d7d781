// Instruction selection: chooses for each matmul mma.sync, FMA outer products or the scalar fallback, how its
// warps are distributed over batch, M, N and K, and whether its A operand can stay in registers as another
// matmul's accumulators.
// Before: a lowered program. After: KernelPlan::matmuls has every live matmul.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void select(KernelPlan&, const target::Target&);

/// Accumulator registers per thread under a warp layout.
std::int64_t accumulator_registers(const MatmulChoice&, const WarpLayout&);

}  // namespace zellige::plan
