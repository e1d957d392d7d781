// Builds the kernel's schedule of agents and channels, from then on the only description of its order of
// execution.
//
// If threads copy, there is one agent, all warps, and the loop's copies go through a cp.async channel. If TMA
// loads the tiles of a matmul on warpgroups, a producer fills a ring of mbarriers that the consumer, the
// program's warps, drains. The consumer's warps come first, so that its threads are numbered as in the
// program.
// Before: pipeline, slice_fragments. After: KernelPlan::schedule except the tensors' offsets.
#pragma once
#include "plan/pipeline.hpp"

namespace zellige::plan {

Schedule build_schedule(const KernelPlan&, const Order&);

}  // namespace zellige::plan
