// Finds which steps of a group a block computes if the loop is split over blocks (split-K), and which are
// left to the kernel that combines the partial results.
//
//   const auto [maxima, inside] = needed_of_part(steps, deferred, sums);
//   // maxima: values that are maxima and stored by the blocks; inside: all values that the blocks compute
#pragma once
#include <map>
#include <set>
#include <vector>

#include "candidate/deferred.hpp"

namespace zellige::candidate {

/// The steps of a group that blocks of a split loop compute.
struct NeededOfPart {
  std::set<int> maxima;  // maxima that the combining kernel needs, besides the sums
  // Reductions whose partial results are stored, and all values that they are computed from.
  std::set<int> inside;
};

/// Returns what the blocks compute if the loop is split over them: the reductions over the loop from which a second
/// kernel, which combines the blocks' partial results, can compute the outputs, and the values from which these
/// reductions are computed. Steps between these reductions and the outputs, such as a softmax's quotient, are left to
/// the second kernel. `deferred` has, by value, what a block has of it inside the unsplit loop; `sums` has, by sum over
/// the loop, the factors that are applied to it after the loop, and other values that the second kernel needs for it.
NeededOfPart needed_of_part(const GroupSteps&, const std::vector<Deferred>& deferred,
                            const std::map<int, std::vector<DeferredFactor>>& sums);

}  // namespace zellige::candidate
