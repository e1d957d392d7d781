// Slices: a product whose accumulators would not fit a thread's registers is computed a slice of N after another, each
// slice leaving for shared or global memory before the next begins.
// Before: pipeline (phases are known). After: a turn of the context for each slice; the tasks of a sliced context stand together in the Order.
#pragma once
#include "plan/pipeline.hpp"

namespace zellige::plan {

void slice_fragments(KernelPlan&, Order&);

}  // namespace zellige::plan
