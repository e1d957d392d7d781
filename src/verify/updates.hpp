// Proves that every value which a loop carries is updated once an iteration: a step that is missing leaves a state that
// verify_registers() finds declared, and that later steps may read.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::plan {

/// Throws Rejected unless the steps of a warp role update each value that is carried over the loop (accumulators of a matmul,
/// a sum, a running maximum) as often as the loop has iterations: in loops over them, or in steps that are taken out of these.
/// Requires that the plan has its warp roles.
void verify_updates(const Kernel&);

}  // namespace zellige::plan
