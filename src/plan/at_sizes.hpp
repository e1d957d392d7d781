// The plan of one launch of a program with sizes: what its kernels are where the sizes have these values.
//
//   const std::int64_t values[] = {300};
//   const Plan launch = at_sizes(plan, values);     // its counters, its expected time and its proof are those of a constant plan
#pragma once
#include <cstdint>
#include <span>

#include "plan/plan.hpp"

namespace zellige::plan {

/// Returns the plan with constants in the place of its sizes. Tiles, layouts, buffers and steps are those of the plan.
Plan at_sizes(Plan, std::span<const std::int64_t> values);

}  // namespace zellige::plan
