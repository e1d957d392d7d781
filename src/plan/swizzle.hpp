// Shared-memory layouts: strides and swizzle of every buffer, judged by evaluating each access of each task.
// Before: group. After: strides, swizzle, sizes of every buffer; a note where a conflict remains.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void arrange_buffers(KernelPlan&, const target::Target&);

}  // namespace zellige::plan
