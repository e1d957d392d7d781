// Estimates the time of custom operators from their tiles alone, before they are planned, to select the
// tilings worth planning. Assumes matmuls on tensor cores, tiles in shared memory, and the prefetch distance
// of `pipeline`.
#pragma once
#include "plan/cost_estimate.hpp"

namespace zellige::plan {

/// Minimum iterations for which two consecutive matmuls of a loop are expected to be a chain on warpgroups,
/// as decided by `warpgroups`.
inline constexpr std::int64_t min_chained_iterations = 2;

/// The time of one custom operator in microseconds.
double estimate(const graph::KernelGraph&, int op, const target::Target&);

}  // namespace zellige::plan
