// Slices of N: a matmul whose accumulators exceed a thread's registers is computed one slice of N after
// another, and each slice is written to shared or global memory before the next one begins.
//
// Runs after the pass `pipeline`, which splits the tasks into phases.
#pragma once
#include "plan/pipeline.hpp"

namespace zellige::plan {

/// Slices all matmuls whose accumulators need too many registers per thread. The thread-value layout of a
/// sliced matmul then repeats once per slice. The matmul and the tasks that read its accumulators become
/// adjacent in the Order.
void slice_fragments(KernelPlan&, Order&);

}  // namespace zellige::plan
