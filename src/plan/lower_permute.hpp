// Permutes the dimensions of a tile inside a block program without moving data: replaces the operators that compute
// the tile by permuted copies, down to the loads, which read the same memory with permuted strides.
//
//   const int y = lower_permute(whole, program, x, {0, 2, 1}, target);   // y[b, i, j] = x[b, j, i]
//
// - If the tile is also read in its original order, its operators run twice.
// - Reductions are stored unpermuted, and a `permute` node reads them in the other order. So are matmuls if the
//   permutation would move their rows or columns to a batch dimension.
#pragma once
#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Adds the nodes of the permuted tile to the block program, and views of tensors to `whole`. Returns the node whose
/// dimension d is dimension dims[d] of node `value`; `value` itself if only dimensions of extent 1 move. Nodes of the
/// original order may lose their readers: call drop_unread() at the end.
int lower_permute(Program& whole, BlockProgram&, int value, const std::vector<int>& dims,
                  const target::Target&);

/// Removes the nodes from which no store is computed.
void drop_unread(BlockProgram&);

}  // namespace zellige::plan
