// The planner's passes one by one, in make_plan's order, so that a test may look at what each leaves behind.
#pragma once
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace zellige::plan {

enum class Pass { lower, select, layouts, group, copies, swizzle, pipeline, memory, slice, agents };
std::string_view name(Pass);
const std::vector<Pass>& all_passes();

/// The plan as pass `last` leaves it. Up to `agents` it is make_plan's, but for the verifier's verdict.
Plan plan_until(const graph::KernelGraph&, const target::Target&, Pass last);

/// What that pass decided, of every kernel.
std::string print_pass(Pass, const Plan&);

}  // namespace zellige::plan
