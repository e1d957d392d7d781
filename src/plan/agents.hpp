// The kernel's schedule as agents and channels: one agent, all warps; the loop's copies travel through a cp.async
// channel. From here on nothing else says what runs when.
// Before: pipeline, slice_fragments. After: KernelPlan::schedule but for the tensors' places.
#pragma once
#include "plan/pipeline.hpp"

namespace zellige::plan {

Schedule build_schedule(const KernelPlan&, const Order&);

}  // namespace zellige::plan
