// Dependence: what a kernel may do while the kernels before it on the stream still run.
//
// A kernel that is launched early (programmatic dependent launch) reads nothing but constants, and writes nothing, until its
// griddep_wait, which returns when all kernels before have ended and what they wrote is visible. Only then, or at its end, does
// it let the next one start. So kernels end in order: one ends after its own wait, which the end of the one before has preceded, and by
// induction every kernel's end comes after the ends of all before it. Behind its wait a kernel may therefore
// read what any earlier kernel wrote, and write over what any earlier kernel read, as if each had been launched when the one before had ended:
// memory that place_tensors gives to one tensor after another needs nothing more. And at most two kernels run at a time.
// Before: lower, resolve_layouts. After: KernelPlan::programmatic and constants; agents places the steps.
#pragma once
#include <string>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void dependence(KernelPlan&, const Program&, const target::Target&);

/// Puts the step that lets the next kernel start behind the wait, where that pays; else it starts as this one's blocks end. Blocks that
/// are placed while others still hold most multiprocessors pile up on those that have room, and stay there: up to 30% slower
/// as measured (docs/log.md). So only a program of one kernel that has constants to read meanwhile, and of which two
/// grids have room at a time, lets its like in early. After: agents, memory.
void let_next_start(KernelPlan&, const Program&, const target::Target&);

/// Proves of a schedule what is said above: an agent that touches global memory past constants has waited, or has found full what one
/// that waited fills; a kernel that is launched early has a wait, and nobody lets the next kernel start before.
void verify_dependence(const Schedule&, const std::string& kernel);

}  // namespace zellige::plan
