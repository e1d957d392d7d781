// Divides N of a matmul whose accumulators exceed a thread's registers into slices, which are computed one
// after another. The accumulators of a slice are written to shared or global memory, or reduced, before the
// next slice begins.
//
// Runs after the pass `pipeline`, which splits the tasks into phases.
#pragma once
#include "plan/pipeline.hpp"

namespace zellige::plan {

/// Slices all matmuls whose accumulators need too many registers per thread. The thread-value layout of a sliced matmul
/// then repeats once per slice. The matmul and the tasks that read its accumulators become adjacent in their phase.
void slice_fragments(kernel::Kernel&, const selection::Tasks&, selection::PhasedTasks&);

}  // namespace zellige::plan
