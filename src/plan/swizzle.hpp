// Chooses the strides, padding and swizzle of every buffer in shared memory, by evaluating the bank
// conflicts of each access of each task (swizzle_search.hpp).
//
// Runs after the pass `group`, which decides the tasks and their thread-value layouts.
#pragma once
#include "kernel/kernel.hpp"
#include "selection/task.hpp"

namespace zellige::plan {

/// How buffers are swizzled: each as it has the fewest bank conflicts, or not at all. The search for the swizzles takes
/// most of the time of a plan, and a plan whose expected time alone is wanted does without.
enum class Swizzles : std::uint8_t { automatic, none };

/// Sets the layout and sizes of every buffer. Adds a note to the plan if a bank conflict remains.
void arrange_buffers(kernel::Kernel&, const selection::Tasks&, const target::Target&, Swizzles = Swizzles::automatic);
/// Sets again the layouts of the buffers that each rank stores a part of (Work::part): a part is whole spans.
void arrange_parts(kernel::Kernel&, const selection::Tasks&, const target::Target&);

}  // namespace zellige::plan
