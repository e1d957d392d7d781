// What each of make_plan's passes decided, as text: a plan keeps what every pass left in it.
#pragma once
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace zellige::plan {

enum class Pass { lower, select, layouts, group, copies, swizzle, agents, memory };
std::string_view name(Pass);

/// What that pass decided, of every kernel.
std::string print_pass(Pass, const Plan&);

}  // namespace zellige::plan
