// Layout resolution: which dimension of every tensor and tile has stride 1, then every stride.
//
// One discrete problem over all kernels of a program, solved exactly by variable elimination: a variable a tile and a
// tensor whose layout the graph leaves open, a cost wherever a copy between two of them could not be the
// widest, infinity where an instruction admits no such layout (ldmatrix wants its rows along one of the last two).
// Before: select. After: KernelPlan::inner, and the strides of every kernel-level tensor.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void resolve_layouts(Program&, std::vector<KernelPlan>&, const target::Target&);

/// The dimension of stride 1 that a copy runs along: the first of extent > 1 with stride 1, else the last.
int innermost(const Shape&, const Strides&);

/// Strides with `inner` contiguous, then the other dimensions from the last to the first; the first of extent > 1 is
/// padded to a multiple of `multiple` so that whatever follows it starts aligned.
Strides padded_strides(const Shape&, int inner, std::int64_t multiple);

}  // namespace zellige::plan
