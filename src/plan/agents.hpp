// Builds a kernel's schedule: its agents (warp roles with their steps in order) and channels (synchronised
// shared-memory rings between agents, as CUTLASS's pipelines). There are two forms:
//
// - One agent, all warps of the block. It copies tiles by cp.async, and the loop's copies go through a channel of
//   cp.async groups.
// - A producer and a consumer, for matmuls on wgmma. The producer's TMA loads fill a ring with full and empty
//   mbarriers. The consumer's warps have the lowest numbers, so that its thread numbers are those of the program.
//
// From here on the schedule is the only description of the order of execution.
#pragma once
#include "plan/pipeline.hpp"

namespace zellige::plan {

/// Returns the schedule of the plan's tasks in the given order of phases. The offsets of its shared-memory tensors
/// and barriers are not yet known.
Schedule build_schedule(const KernelPlan&, const Order&);

}  // namespace zellige::plan
