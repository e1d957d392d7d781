// Groups adjacent schedule steps whose tasks iterate over the same thread-value layout and output slices; the
// emitter writes each group as one loop nest.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// The tasks of the steps from `first` on that nothing separates: copies, or other work, at the same prefetch
/// distance.
std::vector<int> side_by_side(const KernelPlan&, const std::vector<Step>&, std::size_t first);

/// Returns whether a task is evaluated in a loop over its context's items that it may share.
bool in_nest(const KernelPlan&, const Task&);

/// Partitions these tasks into nests.
std::vector<std::vector<int>> nests(const KernelPlan&, const std::vector<int>& tasks);

}  // namespace zellige::plan
