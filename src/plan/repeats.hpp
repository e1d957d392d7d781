// Keys that several heads share, seen as each head's own: the expand and the reshape that repeat them copy nothing where each block
// reads one head.
//
//   k (b, 4, n, d) -> expand (b, 4, 8, n, d) -> reshape (b, 32, n, d) -> custom, a block a head       block h reads head h / 8 of k
//
// The view's entry among the program's tensors has the memory's own extents and strides; what readers see of it has more along the
// repeated dimension. No strides say that, so only loads of custom operators read such a view (lower_block.cpp).
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

/// Makes such a view of what a reshape gives. Returns false, and changes nothing, if the reshape merges no repeated dimension, if its
/// result is returned, or if a reader is no custom operator whose blocks each take one index of the merged dimension.
bool see_repeated(Program&, const graph::KernelGraph&, const graph::KernelOp& reshape);

/// By dimension, how many indices one after another show one element: 1 but for views of `see_repeated`.
Shape repeats(const Program&, int tensor);
/// The tensor that such a view repeats; any other tensor itself.
int repeated(Program&, int tensor);
/// The split of a load of the repeated tensor, from one that counts the view's indices, of which each block takes one.
Split of_repeated(Split, std::int64_t times);

}  // namespace zellige::plan
