// Chooses the contiguous dimension (stride 1) of every tensor and tile of a program, and from it the strides of tensors
// whose layout the graph leaves open.
//
// All kernels together are one minimisation problem, which is solved exactly (elimination.hpp). Its variables are the
// contiguous dimensions of the tiles and of the open tensors. A copy between a tile and a tensor that differ costs one
// access per element. A layout that an instruction cannot read is excluded: ldmatrix needs rows along one of the last
// two dimensions.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Sets the contiguous dimension of the tile of every load, store and rounded matmul operand (KernelPlan::inner), and
/// the strides of every tensor that has none. Requires the choice of the matmuls' instructions.
void resolve_layouts(Program&, std::vector<KernelPlan>&, const target::Target&);

/// Returns the dimension along which a tensor is contiguous: the last one of extent > 1 with stride 1. Returns the last
/// dimension if there is none.
int innermost(const Shape&, const Strides&);

/// Returns strides with `inner` as the fastest dimension, then the other dimensions from the last to the first. The
/// fastest dimension of extent > 1 is padded to a multiple of `multiple` elements, so that all rows are aligned; a
/// tensor with only one such dimension is not padded.
Strides padded_strides(const Shape&, int inner, std::int64_t multiple);

}  // namespace zellige::plan
