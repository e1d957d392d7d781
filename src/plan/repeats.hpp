// Keys shared by several heads (grouped-query attention): the expand and reshape that repeat them need no
// copy if each block reads one head.
//
//   k (b, 4, n, d) -> expand (b, 4, 8, n, d) -> reshape (b, 32, n, d) -> custom, a block per head     block h reads head h / 8 of k
//
// The view's entry among the program's tensors has the memory's own extents and strides; its users see a
// larger extent along the repeated dimension. No strides express that, so only loads of custom operators read
// such a view (lower_block.cpp).
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

/// Makes such a view for the result of a reshape. Returns false, and changes nothing, if the reshape merges
/// no repeated dimension, if its result is an output, or if a user is not a custom operator whose blocks each
/// take one index of the merged dimension.
bool see_repeated(Program&, const graph::KernelGraph&, const graph::KernelOp& reshape);

/// By dimension, the number of consecutive indices that show one element: 1 except for views of
/// `see_repeated`.
Shape repeats(const Program&, int tensor);
/// The tensor that such a view repeats; for other tensors the tensor itself.
int repeated(Program&, int tensor);
/// Converts the split of a load that counts the view's indices, one per block, to one of the repeated tensor.
Split of_repeated(Split, std::int64_t times);

}  // namespace zellige::plan
