// Which tasks are one text: those that stand side by side in the schedule and run through their context's items together.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// The tasks of the steps from `first` on that nothing parts: copies, or other work, equally far ahead.
std::vector<int> side_by_side(const KernelPlan&, const std::vector<Step>&, std::size_t first);

/// Whether a task is evaluated in a loop over its context's items that it may share.
bool in_nest(const KernelPlan&, const Task&);

/// These tasks, those of one nest together.
std::vector<std::vector<int>> nests(const KernelPlan&, const std::vector<int>& tasks);

}  // namespace zellige::plan
