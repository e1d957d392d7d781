// Tracks what masks may have produced in each tensor: -inf, which is not an overflow, and NaN where a whole
// row is masked.
//
//   std::vector<Mask> m = masked(g, {mask_in(array), ...});    // per tensor, from the inputs' values
//   magnitude(values, count, m[t])                             // ignores what the mask produced
//
// Scaling the inputs cannot change a mask's -inf. It propagates through sums, multiplications by numbers,
// maxima and parts. exp ends it (the result is 0); a matmul is not excused. NaN arises from -inf minus -inf,
// or from 0/0 after exp, and nothing ends it.
#pragma once
#include "graph/array.hpp"

namespace zellige::graph {

/// Returns which non-finite values an input contains.
Mask mask_in(const Array&);

/// Per tensor of the kernel graph, or of a block graph. `inputs`: the same for the graph's or the custom
/// operator's inputs.
std::vector<Mask> masked(const KernelGraph&, const std::vector<Mask>& inputs);
std::vector<Mask> masked(const BlockGraph&, const std::vector<Mask>& inputs);

}  // namespace zellige::graph
