// Builds the second kernel of a split loop: combines the partial results and runs the steps that depend on
// them.
//
// The first dimension numbers the parts. A sum is the sum of the partial results; one that is scaled by a
// running maximum is first rescaled to the greatest of them: sum_p s_p exp(c (M - m_p)), as from one
// iteration to the next.
#pragma once
#include "fuse/body.hpp"

namespace zellige::fuse {

/// `first` is the body of the steps with its loop split into `parts`; `tensors` are its partials in the
/// graph.
Steps merged(const Steps&, const Body& first, std::int64_t parts, const std::vector<int>& tensors);

}  // namespace zellige::fuse
