// Estimates the time of a custom operator (one kernel) from its tiles alone, without planning it, so that a search
// plans only promising tilings. Assumes matmuls on tensor cores, tiles in shared memory, and as many iterations in
// flight as the planner's software pipelining would have. The estimate for a finished plan is in cost_estimate.hpp.
#pragma once
#include "cost/kernel_cost.hpp"

namespace zellige::plan {

/// Minimum number of loop iterations with which two consecutive matmuls are expected to run on wgmma with the result
/// of the first in registers.
inline constexpr std::int64_t min_chained_iterations = 2;

/// Returns the expected time of operator number `op`, which must be a custom operator. If the
/// operator's tiles clearly exceed the shared memory of a block, its time is increased by 1 s (1,000,000 µs),
/// so that a search does not choose them.
KernelCost estimate(const graph::KernelGraph&, int op, const target::Target&);

}  // namespace zellige::plan
