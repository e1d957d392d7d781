// Proves register contents: every value that a task takes from registers was left there by another task, in
// the same thread, under the same number, in the section and order in which the kernel runs them. Covers
// accumulators that become A fragments; fragments and states that elementwise tasks read; partial results for
// `finish`; slices of N. And where a buffer is read without a barrier, each thread reads only what it wrote.
//
// The thread-value layouts are evaluated from the instruction descriptors (fragments.hpp), independently of
// the planner.
// Before: the whole plan. Throws Rejected with the kernel, both tasks, thread, value and the two coordinates
// that differ.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void verify_registers(const KernelPlan&);

}  // namespace zellige::plan
