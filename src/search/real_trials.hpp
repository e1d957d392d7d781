// Two graphs over real numbers with a proved error, at points of several scales: what shows a difference.
#pragma once
#include "search/equal.hpp"
#include "search/match.hpp"
#include "search/point.hpp"

namespace zellige::search {

struct RealTrials {
  std::optional<Counterexample> difference;  // proved, and seen in float64 by the reference
  bool unseen = false;                       // proved, but float64 does not see it
  bool complete = false;                     // no point was dropped to save time
  Scale scale;                               // of the point that shows it
  bool loose = false;  // agree only when scalars of one graph alone are known to 50 bits
};

RealTrials real_trials(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&,
                       std::uint64_t seed);

}  // namespace zellige::search
