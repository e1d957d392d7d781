// Tracks which non-finite values masks may have produced in each tensor: -inf, which is then not an overflow,
// and NaN in rows that are entirely masked.
//
//   std::vector<Mask> m = masked(g, {mask_in(array), ...});    // per tensor, from the arrays of all inputs
//   magnitude(values, count, m[t])                             // ignores what the mask produced
//
// Scaling the inputs cannot remove a mask's -inf, so the search for scales (inputs.hpp) must ignore it. -inf propagates
// through sums, multiplications by numbers, maxima and slices. exp turns it into 0; in the result of a matmul, -inf
// counts as an overflow. NaN arises from -inf minus -inf, or from 0/0 after exp, and propagates through every operator.
#pragma once
#include "reference/array.hpp"

namespace zellige::reference {

/// Returns which non-finite values (NaN, -inf) the array of a graph input contains.
Mask mask_in(const Array&);

/// Returns, per tensor of a graph, which non-finite values masks may produce. `inputs`: mask_in() of each input.
std::vector<Mask> masked(const graph::KernelGraph&, const std::vector<Mask>& inputs);
/// Returns, per tensor of a block graph, which non-finite values masks may produce. `inputs`: which of these
/// values each operand of the custom operator may have.
std::vector<Mask> masked(const graph::BlockGraph&, const std::vector<Mask>& inputs);

}  // namespace zellige::reference
