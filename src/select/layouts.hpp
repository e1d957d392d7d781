// Chooses the contiguous dimension (stride 1) of every tensor and tile of a program, and from it the strides of
// tensors whose layout the graph leaves open.
//
// All kernels together are one minimisation problem, which is solved exactly (elimination.hpp). Its variables are the
// contiguous dimensions of the tiles and of the open tensors. Copying between a tile and a tensor whose contiguous
// dimensions differ costs one access per element. A layout that an instruction cannot read is excluded: ldmatrix
// needs rows along one of the last two dimensions.
#pragma once
#include "select/select.hpp"

namespace zellige::plan {

/// Sets Node::inner, the contiguous dimension of the tile, for every load, store and rounded matmul operand.
/// Also sets the strides of every tensor that has none. Requires that the instructions of the matmuls are chosen.
void resolve_layouts(Program&, std::vector<Selection>&, const target::Target&);

/// Returns the contiguous dimension of a tensor: the last one that has stride 1 and an extent above 1. Returns the
/// last dimension if there is none.
int innermost(const Shape&, const Strides&);
/// Returns the contiguous dimension of the tensor that a load or store accesses.
int innermost(const Program&, const Node&);

/// Returns strides for a tensor of the given shape. Dimension `inner` is the fastest, followed by the other dimensions
/// from the last to the first. The fastest dimension of extent above 1 is padded to a multiple of `multiple` elements,
/// so that all rows are aligned. A tensor with fewer than two dimensions of extent above 1 is not padded.
Strides padded_strides(const Shape&, int inner, std::int64_t multiple);

}  // namespace zellige::plan
