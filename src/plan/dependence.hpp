// Decides what a kernel may do while earlier kernels on the stream are running (programmatic dependent launch, PDL),
// and proves that its schedule keeps to these rules.
//
// A kernel that is launched early reads only constant inputs (which no earlier work on the stream writes) and writes
// nothing before its griddep_wait step (griddepcontrol.wait). The wait returns when the previous kernel has ended and
// its writes are visible. Only after the wait, or by ending, does a kernel let the next one start.
//
// Consequences: kernels end in order, because a kernel ends after its own wait, and the previous kernel ends before
// that. By induction, all earlier kernels have ended after the wait. A kernel may then read what any of them wrote and
// overwrite what any of them read, so that tensors may share memory as without PDL. At most two kernels run at a time.
#pragma once
#include <string>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Sets KernelPlan::programmatic if the target has PDL, and KernelPlan::constants to the loads of constant inputs,
/// which may precede the wait.
void dependence(KernelPlan&, const Program&, const target::Target&);

/// Adds griddepcontrol.launch_dependents after the wait of the plan's schedule, where that pays: in a program of one
/// kernel that loads constant inputs and of which two grids fit the GPU at a time. Without it the next kernel starts
/// as this one's blocks end. (If fewer blocks fit, those of the next kernel pile up on the multiprocessors that are
/// free: up to 30% slower, docs/log.md.)
void let_next_start(KernelPlan&, const Program&, const target::Target&);

/// Proves that a schedule keeps the rules. An agent (warp role) that accesses global memory other than constant inputs
/// must have waited, or have acquired a stage filled by an agent that waited. A kernel that is launched early must have
/// a wait, and may launch dependents only after it. Throws Rejected, with the step and the reason, otherwise.
void verify_dependence(const Schedule&, const std::string& kernel);

}  // namespace zellige::plan
