// Which tensors may hold -inf because a mask put it there, rather than because something overflowed.
//
//   std::vector<bool> m = masked(g, {is there a -inf in input 0, in input 1, ...});
//   magnitude(values, count, m[t])     // leaves the -inf of a masked tensor out
//
// A mask's -inf is no size that scaling the inputs could change. It goes through whatever keeps it: sums, products with
// numbers, maxima, parts. exp ends it (it is 0 there), and a product of matrices is not excused.
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// By tensor of the kernel graph; `inputs` says which of the graph's inputs hold a -inf.
std::vector<bool> masked(const KernelGraph&, const std::vector<bool>& inputs);

/// By tensor of a block graph; `inputs` says which of the custom operator's are masked.
std::vector<bool> masked(const BlockGraph&, const std::vector<bool>& inputs);

}  // namespace zellige::graph
