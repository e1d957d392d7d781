// The decisions of each of make_plan's passes, printed: a plan keeps the result of every pass.
#pragma once
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace zellige::plan {

enum class Pass { lower, select, layouts, group, copies, swizzle, agents, memory };
std::string_view name(Pass);

/// The decisions of that pass, for every kernel.
std::string print_pass(Pass, const Plan&);

}  // namespace zellige::plan
