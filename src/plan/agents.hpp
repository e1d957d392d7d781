// The kernel's schedule as agents and channels. From here on nothing else says what runs when.
//
// One agent, all warps, where threads copy: the loop's copies travel through a cp.async channel. Where TMA brings the
// tiles of a product on warpgroups, a producer fills a ring of mbarriers that the consumer, the program's warps, uses up.
// The consumer's warps come first, so that its threads are numbered as the program's.
// Before: pipeline, slice_fragments. After: KernelPlan::schedule but for the tensors' places.
#pragma once
#include "plan/pipeline.hpp"

namespace zellige::plan {

Schedule build_schedule(const KernelPlan&, const Order&);

}  // namespace zellige::plan
