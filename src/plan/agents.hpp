// The kernel's schedule as agents and channels: one agent, all warps; the loop's copies travel through a cp.async
// channel. This is what verify() proves and what the plan prints.
// Before: pipeline, place_buffers. After: KernelPlan::schedule.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void build_schedule(KernelPlan&);

}  // namespace zellige::plan
