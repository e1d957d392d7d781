// Finds what a part of a split loop computes.
//
//   const auto [maxima, inside] = needed_of_part(steps, deferred, sums);
//
// `deferred` and `sums` are of the loop before it is split: what it has of each value, and the factors of each
// sum over it.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "fuse/deferred.hpp"

namespace zellige::fuse {

struct NeededOfPart {
  std::set<int> maxima;  // values that another kernel needs besides the sums
  std::set<int> inside;  // the reductions that it needs, and what they are computed from
};

/// Follows the outputs back to the first reductions over the loop. What lies between, such as a softmax's
/// quotient, is left to the kernel that combines the parts.
NeededOfPart needed_of_part(const Steps&, const std::vector<Deferred>& deferred,
                            const std::map<int, std::vector<Factor>>& sums);

}  // namespace zellige::fuse
