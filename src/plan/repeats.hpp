// Represents expand + reshape as a view without a copy, if each block reads one index of the repeated
// dimension. This is grouped-query attention: several query heads share the keys of one head.
//
//   k (b, 4, n, d) -> expand (b, 4, 8, n, d) -> reshape (b, 32, n, d) -> custom, a block per head     block h reads head h / 8 of k
//
// The view's entry among the program's tensors has the extents and strides of the memory; its users see a
// larger extent along the repeated dimension. Strides cannot express this, so only loads of custom
// operators read such a view (lower_block.cpp).
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

/// Makes the result of a reshape a view that repeats its operand, and returns true. Returns false, and
/// changes nothing, in these cases:
///
/// - the reshape merges no dimension that an expand repeats;
/// - its result is an output of the graph;
/// - a user is not a custom operator whose blocks read one index of the merged dimension each.
bool see_repeated(Program&, const graph::KernelGraph&, const graph::KernelOp& reshape);

/// Returns, by dimension, how many consecutive indices of the tensor are the same element: 1 except for
/// views made by see_repeated().
Shape repeats(const Program&, int tensor);
/// Returns a view of a tensor made by see_repeated() without the repetition, which it adds to the program;
/// for other tensors the tensor itself.
int repeated(Program&, int tensor);
/// Converts a load's split of a repeated dimension, one index per block, to the split of the tensor without
/// the repetition. `times` is the number of repetitions.
Split of_repeated(Split, std::int64_t times);

}  // namespace zellige::plan
