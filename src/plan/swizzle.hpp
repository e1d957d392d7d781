// Chooses strides and swizzle of every buffer, by evaluating each access of each task.
// Before: group. After: strides, swizzle, sizes of every buffer; a note if a bank conflict remains.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void arrange_buffers(KernelPlan&, const target::Target&);

}  // namespace zellige::plan
