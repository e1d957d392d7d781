// Layout assignment: chooses the dimension of stride 1 of every tensor and tile, then all strides.
//
// One discrete problem over all kernels of a program, solved exactly by variable elimination: a variable per
// tile and per tensor whose layout the graph leaves open, a cost where a copy between two of them could not
// have the widest accesses, infinity where an instruction does not support the layout (ldmatrix needs its
// rows along one of the last two dimensions).
// Before: select. After: KernelPlan::inner, and the strides of every kernel-level tensor.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void resolve_layouts(Program&, std::vector<KernelPlan>&, const target::Target&);

/// The dimension that a copy runs along: the first of extent > 1 with stride 1, else the last.
int innermost(const Shape&, const Strides&);

/// Strides with `inner` contiguous, then the other dimensions from last to first; the first of extent > 1 is
/// padded to a multiple of `multiple`, so that each following row is aligned.
Strides padded_strides(const Shape&, int inner, std::int64_t multiple);

}  // namespace zellige::plan
