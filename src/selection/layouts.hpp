// Chooses the contiguous dimension (stride 1) of every tensor and tile of a program, and from it the strides of
// tensors whose layout the graph leaves open.
//
// All kernels together are one minimisation problem. Copying between a tile and a tensor whose contiguous dimensions differ
// costs one access per element, so that a tile depends on its tensor, and a tensor on all of its tiles: each of its
// dimensions is tried with the tiles' best ones. A layout that an instruction cannot read is excluded: ldmatrix needs rows
// along one of the last two dimensions, along K for operands of 8 bits.
#pragma once
#include "selection/select.hpp"

namespace zellige::selection {

/// Sets Node::inner, the contiguous dimension of the tile, for every load, store and rounded matmul operand.
/// Also sets the strides of every tensor that has none. Requires that the instructions of the matmuls are selected. Throws Error
/// if no contiguous dimension of an operand suits all matmuls that read it.
void resolve_layouts(tile::TilePrograms&, std::vector<Selection>&, const target::Target&);

/// Returns the contiguous dimension of a tensor: the last one that has stride 1 and an extent above 1. Returns the
/// last dimension if there is none.
int innermost(const graph::Shape&, const graph::Strides&);
/// Returns the contiguous dimension of the tensor that a load or store accesses.
int innermost(const tile::TilePrograms&, const tile::Node&);

/// Returns the dimension along K of operand A (side 0) or B (side 1) of a matmul, whose tile has this shape.
inline int k_dimension(const graph::Shape& tile, int side) {
  return static_cast<int>(tile.size()) - (side == 0 ? 1 : 2);
}
/// Returns whether the tile that a node of the program yields can be stored with `dim` as its contiguous dimension without
/// being transposed: it is computed, element by element, from tiles of its shape that are loaded from tensors contiguous
/// along `dim`. The contiguous dimension of any other value, and of a tensor whose layout is open, counts as the last one.
bool lies_along(const tile::TilePrograms&, const tile::TileProgram&, int node, int dim);

/// Returns strides for a tensor of the given shape. Dimension `inner` is the fastest, followed by the other dimensions
/// from the last to the first. The fastest dimension of extent above 1 is padded to a multiple of `multiple` elements,
/// so that all rows are aligned. A tensor with fewer than two dimensions of extent above 1 is not padded.
graph::Strides padded_strides(const graph::Shape&, int inner, std::int64_t multiple);

}  // namespace zellige::selection
