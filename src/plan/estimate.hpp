// What a program of custom operators is expected to take before it is planned, from its tiles alone: which tilings are worth
// planning and pricing. Products on tensor cores, tiles through shared memory, loads as far ahead as `pipeline` has them.
#pragma once
#include "plan/price.hpp"

namespace zellige::plan {

/// Iterations from which two products of a loop, one behind the other, are expected to be a chain on warpgroups, as `warpgroups` takes
/// them.
inline constexpr std::int64_t chained_trips = 2;

/// Of one custom operator; microseconds.
double estimate(const graph::KernelGraph&, int op, const target::Target&);

}  // namespace zellige::plan
