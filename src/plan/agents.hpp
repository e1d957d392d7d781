// Builds a kernel's agents (warp roles with their steps in order) and channels (synchronised shared-memory rings, such
// as CUTLASS's pipelines), its setup and its teardown. They have one of two forms:
//
// - One agent that has all warps of the block. It copies tiles by cp.async. Each tile that the loop copies has a
//   channel, which cp.async groups synchronise.
// - A producer and a consumer, for matmuls on wgmma. The producer's TMA loads fill a ring that has full and empty
//   mbarriers. The consumer's warps are the first of the block, so that a consumer thread's threadIdx is its thread
//   number in the plan's layouts.
//
// Loops are software pipelines, which a modulo schedule of the loop's dependence graph decides (loop_parts.hpp): work that
// completes later starts in an earlier iteration than the one that waits for it.
//
// Later passes and the emitter take the order of execution from the agents alone.
#pragma once
#include "plan/pipeline.hpp"

namespace zellige::plan {

/// Gives the kernel the agents that do the tasks in their phases, in place of those that it has. With
/// `barrier_after_loop` a barrier is between the loop and the phases after it also where no task needs one. Sets
/// Kernel::threads, agents, channels, setup and teardown. The shared-memory offsets of tensors and mbarriers are not yet
/// set: place_buffers() sets them.
void build_agents(kernel::Kernel&, const selection::Tasks&, const selection::PhasedTasks&, const target::Target&,
                  bool barrier_after_loop = false);

}  // namespace zellige::plan
