// What a plan's threads need of registers, as far as it knows, and how many blocks a multiprocessor has room for then.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// A thread's, by what tasks leave in registers and what outer products read at a time.
std::int64_t registers_of_thread(const KernelPlan&, const target::Target&);

/// Blocks of so many threads on a multiprocessor, by registers, threads and shared memory; at least 1.
int blocks_together(const KernelPlan&, const target::Target&, std::int64_t threads);

/// Outer products are unrolled, and ptxas loads ahead with all registers that it is given: says how many blocks are to have room.
/// Before: places are known. After: KernelPlan::together.
void bound_registers(KernelPlan&, const target::Target&);

}  // namespace zellige::plan
