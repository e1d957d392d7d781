// Builds the steps of the second kernel of a split loop (split-K, split-KV), which combines the partial
// results of all blocks and runs the steps that depend on them.
//
// The first dimension of a partial result numbers the blocks. A sum over the whole loop is the sum of its
// partial results s_p. If the sum is of exponentials relative to a running maximum, each s_p is first
// rescaled from the maximum m_p of its block to the overall maximum M: sum_p s_p exp(c (M - m_p)), where c is
// PartialResult::coefficient (-1 for sums of exp(x - m)). Sums of squares of differences from the means m_p of parts are those
// from a mean m after n (m_p - m)^2 is added to each, where n is the number of elements of a part.
#pragma once
#include "candidate/body.hpp"

namespace zellige::candidate {

/// Returns the steps of the kernel that combines partial results. It has the same outputs as the given steps.
/// `first` is what the first kernel computes: the body of the given steps with the loop split over `parts`
/// blocks. tensors[i] is the tensor of the graph that stores partial result number i of `first`.
GroupSteps merged(const GroupSteps&, const GroupBody& first, std::int64_t parts, const std::vector<int>& tensors);

}  // namespace zellige::candidate
