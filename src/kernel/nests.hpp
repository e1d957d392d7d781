// Groups adjacent steps whose works iterate over the same thread-value layout and store the same output slices
// (sliced.hpp); the emitter writes each group as one loop nest.
#pragma once
#include <span>

#include "kernel/kernel.hpp"

namespace zellige::kernel {

/// Adjacent steps of a list.
using StepSpan = std::span<const Step>;

/// Returns the steps that the emitter writes together: steps[first] and those that follow it. Either all of them are
/// loads from global memory or none is, and all run for the same iteration of a pipelined loop (equal guard_lag). They
/// end before the first step that does not fit these conditions, before a step without work, before a wgmma, and before
/// a step that initialises a loop state.
StepSpan side_by_side(const Kernel&, StepSpan, std::size_t first);

/// Returns whether the emitter writes a work as a loop over its thread-value layout, so that works with the same layout
/// can share the loop. False for example for matmuls and TMA stores.
bool in_nest(const Kernel&, const Work&);

/// Splits steps, in order, into loop nests: adjacent steps share a loop if their works have the same thread-value layout
/// and store the same output slices. A step for which in_nest() is false is alone.
std::vector<StepSpan> nests(const Kernel&, StepSpan);

}  // namespace zellige::kernel
