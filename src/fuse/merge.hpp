// The second half of a split loop: what the parts left is put together, and what waits for it follows.
//
// Parts lie along a dimension in front. A sum is the sum of the parts'; one that is held below a running maximum is first brought
// below the greatest of them: sum_p s_p exp(c (M - m_p)), as from one iteration to the next.
#pragma once
#include "fuse/body.hpp"

namespace zellige::fuse {

/// `first`: of the steps, its loop split into so many parts. `tensors`: of its partials, in the graph.
Steps merged(const Steps&, const Body& first, std::int64_t parts, const std::vector<int>& tensors);

}  // namespace zellige::fuse
