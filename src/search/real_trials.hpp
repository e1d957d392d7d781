// Two graphs over real numbers with a proved error, at points of several scales.
#pragma once
#include "search/equal.hpp"
#include "search/match.hpp"
#include "search/point.hpp"

namespace zellige::search {

struct RealTrials {
  std::optional<Counterexample> difference;  // proved
  Scale scale;                               // of the point that shows it
  int points = 0;       // at which every element was compared, counting for each element its own
  bool loose = false;   // agree only when scalars of one graph alone are known to 50 bits
  std::string refused;  // an operator has no meaning here: which
  std::string unseen;   // the element that was compared least
};

/// `more` points than the usual ones.
RealTrials real_trials(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&,
                       std::uint64_t seed, int more);

}  // namespace zellige::search
