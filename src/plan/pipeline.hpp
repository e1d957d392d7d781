// Scheduling: tasks into phases with the fewest barriers, and the depth of the loop's software pipeline.
//
// Inside a pipelined loop each iteration opens with: wait for its stage, one barrier, start the copies of a later
// stage. That barrier serves the copies, and the loop's back edge: what the last iteration read may be overwritten.
// Before: group, arrange_buffers. After: before, inside, after; stages; top_barrier, after_barrier.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// `copies_first`: a program without a loop starts all its copies before anything else, so that they travel together;
/// without it they start where that costs least memory.
void pipeline(KernelPlan&, const target::Target&, bool copies_first);

}  // namespace zellige::plan
