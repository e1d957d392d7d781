// Chooses the strides, padding and swizzle of every buffer in shared memory, by evaluating the bank
// conflicts of each access of each task (swizzle_search.hpp).
//
// Runs after the pass `group`, which decides the tasks and their thread-value layouts.
#pragma once
#include "kernel/kernel.hpp"
#include "select/task.hpp"

namespace zellige::plan {

/// Sets the layout and sizes of every buffer. Adds a note to the plan if a bank conflict remains.
void arrange_buffers(Kernel&, const Tasks&, const target::Target&);

}  // namespace zellige::plan
