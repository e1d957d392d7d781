// Estimates the registers that a kernel's threads need.
#pragma once
#include "kernel/kernel.hpp"
#include "select/task.hpp"

namespace zellige::plan {

/// Returns the estimated registers per thread: accumulators, loop states, partial results, rows that are held, and the
/// operands of FMA matmuls, plus a constant for everything else. The result is at least 32 and at most the target's
/// limit.
std::int64_t registers_of_thread(const Kernel&, const Tasks&, const target::Target&);

}  // namespace zellige::plan
