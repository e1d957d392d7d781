// Permutes a tile's dimensions inside a block by computing its operands in the other order from the start,
// down to loads, which read the same memory with other strides. So it costs nothing, unless the tile is used
// in the original order as well: then its producers run twice. Reductions, and matmuls whose rows become a
// batch, are stored unpermuted and read in the other order.
//
//   const int y = lower_permute(whole, program, x, {0, 2, 1}, target);   // y[b, i, j] = x[b, j, i]
#pragma once
#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Returns the node whose dimension d is dimension dims[d] of `value`.
int lower_permute(Program& whole, BlockProgram&, int value, const std::vector<int>& dims,
                  const target::Target&);

/// Removes nodes that no store needs.
void drop_unread(BlockProgram&);

}  // namespace zellige::plan
