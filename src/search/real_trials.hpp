// Compares two graphs over real numbers with a proved error bound, at points of several scales, to find a
// difference.
#pragma once
#include "search/equal.hpp"
#include "search/match.hpp"
#include "search/point.hpp"

namespace zellige::search {

struct RealTrials {
  std::optional<Counterexample> difference;  // proved, and seen by the float64 reference
  bool unseen = false;                       // proved, but not visible in float64
  bool complete = false;                     // no point was dropped to save time
  Scale scale;                               // of the point that shows the difference
  bool loose = false;  // agree only if scalars that one graph alone has are known to 50 bits
};

RealTrials real_trials(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&,
                       std::uint64_t seed);

}  // namespace zellige::search
