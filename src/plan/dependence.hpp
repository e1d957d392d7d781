// Programmatic dependent launch: what a kernel may do while earlier kernels on the stream still run.
//
// A kernel that is launched early reads only constants, and writes nothing, until its griddep_wait
// (griddepcontrol.wait), which returns when all earlier kernels have ended and their writes are visible. Only
// after it, or at its end, does it let the next kernel start. So kernels end in order: a kernel ends after
// its own wait, which the end of the previous one precedes, and by induction after the ends of all earlier
// ones. After its wait a kernel may therefore read what any earlier kernel wrote, and overwrite what any
// earlier kernel read, as if launched after the previous one had ended: memory that place_tensors gives to
// successive tensors needs no further ordering. And at most two kernels run at a time.
// Before: lower, resolve_layouts. After: KernelPlan::programmatic and constants; agents places the steps.
#pragma once
#include <string>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void dependence(KernelPlan&, const Program&, const target::Target&);

/// Places griddepcontrol.launch_dependents after the wait if that pays; otherwise the next kernel starts as
/// this one's blocks end. Blocks that start while others still hold most multiprocessors pile up on those
/// with free resources, and stay there: up to 30% slower as measured (docs/log.md). So it is placed only in a
/// program of one kernel that has constants to load early, and of which two grids fit at a time. After:
/// agents, memory.
void let_next_start(KernelPlan&, const Program&, const target::Target&);

/// Proves the above for a schedule: an agent that accesses global memory other than constants has waited, or
/// has acquired a stage filled by one that waited; a kernel that is launched early has a wait, and no agent
/// launches dependents before it. Throws Rejected.
void verify_dependence(const Schedule&, const std::string& kernel);

}  // namespace zellige::plan
