// A permutation of a tile's dimensions, inside a block: what it is made of is computed in the other order from the start, down to
// what is loaded, which is read from the same memory by other strides. So it costs nothing, unless the tile is wanted in the first
// order as well: then what makes it runs twice. Reductions, and products whose rows become a batch, are stored as they are and read
// in the other order.
//
//   const int y = lower_permute(whole, program, x, {0, 2, 1}, target);   // y[b, i, j] = x[b, j, i]
#pragma once
#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// The node that gives dimension dims[d] of `value` at d.
int lower_permute(Program& whole, BlockProgram&, int value, const std::vector<int>& dims,
                  const target::Target&);

/// Drops nodes that no store needs any more.
void drop_unread(BlockProgram&);

}  // namespace zellige::plan
