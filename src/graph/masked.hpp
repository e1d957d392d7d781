// What a mask may have put into which tensor: -inf, which is no overflow, and NaN where all of a row is masked.
//
//   std::vector<Mask> m = masked(g, {mask_in(array), ...});    // by tensor, from what the inputs hold
//   magnitude(values, count, m[t])                             // leaves out what the mask put there
//
// A mask's -inf is no size that scaling the inputs could change. It goes through whatever keeps it: sums, products with
// numbers, maxima, parts. exp ends it (it is 0 there), and a product of matrices is not excused. NaN comes of a -inf less a -inf or
// of 0/0 behind it, and nothing ends it.
#pragma once
#include "graph/array.hpp"

namespace zellige::graph {

/// What an input holds that is not a number to be scaled.
Mask mask_in(const Array&);

/// By tensor of the kernel graph, and of a block graph; `inputs` says it of the graph's inputs or the custom operator's.
std::vector<Mask> masked(const KernelGraph&, const std::vector<Mask>& inputs);
std::vector<Mask> masked(const BlockGraph&, const std::vector<Mask>& inputs);

}  // namespace zellige::graph
