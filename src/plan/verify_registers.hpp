// Registers, proved: every value that a task takes from registers is the one that another task left there, in
// the same thread, under the same number, in the section and order in which the kernel runs them. Accumulators
// that become A fragments; fragments and states that elementwise tasks read; sums on their way to `finish`;
// slices of N. And where a buffer is read without a barrier, each thread reads only what it wrote.
//
// The (thread, value) layouts are evaluated from the instructions' rows (fragments.hpp), whatever the planner
// made of them. Before: the whole plan. Throws Rejected with the kernel, both tasks, thread, value and the two
// coordinates that clash.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void verify_registers(const KernelPlan&);

}  // namespace zellige::plan
