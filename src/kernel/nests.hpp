// Groups adjacent schedule steps whose tasks iterate over the same thread-value layout and store the same
// output slices (sliced.hpp); the emitter writes each group as one loop nest.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::plan {

/// Returns the tasks (the work of steps) that the emitter writes together: those of steps[first] and of the steps
/// that follow it. Either all of them are loads from global memory or none is, and all run for the same iteration of
/// a pipelined loop (equal guard_lag). The list ends before the first step whose task does not fit these conditions,
/// before a step without a task, before a wgmma, and before a step that initialises a loop state.
std::vector<int> side_by_side(const Kernel&, const std::vector<Step>&, std::size_t first);

/// Returns whether the emitter writes a task (the work of a step) as a loop over its thread-value layout,
/// so that tasks with the same layout can share the loop. False for example for matmuls and TMA stores.
bool in_nest(const Kernel&, const Task&);

/// Splits a list of tasks, in order, into loop nests: adjacent tasks share a loop if they have the same
/// thread-value layout and store the same output slices. A task for which in_nest() is false becomes a list
/// of one task.
std::vector<std::vector<int>> nests(const Kernel&, const std::vector<int>& tasks);

}  // namespace zellige::plan
