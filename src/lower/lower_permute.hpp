// Permutes the dimensions of a tile inside a tile program without moving data: replaces the operators that compute
// the tile by permuted copies, down to the loads, which read the same memory with permuted strides.
//
//   // x and y are nodes of `program`: y[b, i, j] = x[b, j, i]; whole: the Program, to which views are added
//   const int y = lower_permute(whole, program, x, {0, 2, 1}, target);
//
// - If the tile is also read in its original order, its operators run twice.
// - A reduction is stored unpermuted, and a `permute` node reads it in the other order. The same holds for a matmul
//   if the permutation would move its rows or columns to a batch dimension.
#pragma once
#include "target/target.hpp"
#include "tile/program.hpp"

namespace zellige::lower {

/// Adds nodes that compute a permuted tile to the tile program, and the views of tensors that they load to `whole`.
/// Returns the node whose dimension d is dimension dims[d] of node `value`. Returns `value` itself if the permutation
/// only moves dimensions of extent 1. The nodes that compute `value` may lose their readers: call drop_unread() at
/// the end.
int lower_permute(tile::TilePrograms& whole, tile::TileProgram&, int value, const std::vector<int>& dims,
                  const target::Target&);

/// Removes all nodes that contribute to no store.
void drop_unread(tile::TileProgram&);

}  // namespace zellige::lower
