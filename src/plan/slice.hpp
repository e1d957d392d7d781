// Slices: a product whose accumulators would not fit a thread's registers is computed a slice of N after another, each
// slice leaving for shared or global memory before the next begins.
// Before: pipeline (phases are known). After: Context::slices; the tasks of a sliced context stand together.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void slice_fragments(KernelPlan&);

}  // namespace zellige::plan
