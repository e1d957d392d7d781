// Accumulator slices: a matmul whose accumulators would exceed a thread's registers is computed one slice of
// N after another, each of which is written to shared or global memory before the next begins.
// Before: pipeline (phases are known). After: one turn of the context per slice; the tasks of a sliced
// context are adjacent in the Order.
#pragma once
#include "plan/pipeline.hpp"

namespace zellige::plan {

void slice_fragments(KernelPlan&, Order&);

}  // namespace zellige::plan
