// Represents expand + reshape as a view without a copy, if each tile has one index of the repeated dimension, or whole runs
// of indices that denote the same element. The first is grouped-query attention: several query heads share the keys of one
// head. The second is a weight's scale for each group of K.
//
//   // The custom operator has one block per head; block h reads head h / 8 of k.
//   k (b, 4, n, d) -> expand (b, 4, 8, n, d) -> reshape (b, 32, n, d) -> custom
//
// The view's entry among the program's tensors has the extents and strides of the memory; its users see a
// larger extent along the repeated dimension. Strides cannot express this, so only loads of custom
// operators read such a view (lower_block.cpp).
#pragma once
#include "tile/program.hpp"

namespace zellige::lower {

/// Makes the result of a reshape a view of the tensor that an expand before the reshape repeats, and returns
/// true. Returns false, and changes nothing, in these cases:
///
/// - the reshape merges no dimension that an expand repeats;
/// - the reshape's result is an output of the graph;
/// - the result is read by an operator other than a custom operator each of whose tiles has one index of the merged
///   dimension, or whole runs.
bool see_repeated(tile::TilePrograms&, const graph::KernelGraph&, const graph::KernelOp& reshape);

/// Returns, for each dimension of the tensor, how many consecutive indices denote the same element. This is 1
/// except for views made by see_repeated().
graph::Shape repeats(const tile::TilePrograms&, int tensor);
/// Returns `tensor`, unless it is a view made by see_repeated(). For such a view, adds another view of the
/// same memory without the repetition to the program, and returns its index.
int repeated(tile::TilePrograms&, int tensor);
/// Returns how a load's blocks divide a dimension of the tensor without repetition, given how they divide the
/// repeated dimension: in one index per block, or in whole runs. `times` is the number of repetitions.
tile::Cut of_repeated(tile::Cut, std::int64_t times);

}  // namespace zellige::lower
