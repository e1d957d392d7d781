// The one order in which ways to compute the same are compared.
//
//   better({.us = 10.0, .launches = 1}, {.us = 9.8, .launches = 2}, target.costs.search)   // true: a launch less
//
// It is a total order: by the time on the GPU, to which each launch after the first adds `tie` of it and each launch `each`
// microseconds (target/costs.hpp, with what they were fitted on); then by the time of the host, and the workspace.
#pragma once
#include <cstdint>
#include <tuple>

#include "target/costs.hpp"

namespace zellige::cost {

/// What a way to compute something costs.
struct WayCost {
  double us = 0;  // on the GPU
  std::size_t launches = 1;
  double host_us = 0;          // of the host's thread
  std::int64_t workspace = 0;  // bytes of intermediate tensors
};

/// Returns what a way counts as, in microseconds: smaller is better.
inline double counts_as(const WayCost& way, const target::Costs::Search& costs) {
  const double after_first = way.launches > 0 ? static_cast<double>(way.launches - 1) : 0;
  return way.us * (1 + costs.tie * after_first) + costs.each * static_cast<double>(way.launches);
}

/// Returns whether `a` is taken in place of `b`.
inline bool better(const WayCost& a, const WayCost& b, const target::Costs::Search& costs) {
  const auto rank = [&](const WayCost& way) { return std::tuple(counts_as(way, costs), way.host_us, way.workspace); };
  return rank(a) < rank(b);
}

/// Returns whether `a` is so much better than `given`, which was measured or made by hand, that the expected times may be
/// trusted in it. `longer_loops`: a's loops have more iterations, whose latencies are predicted worst.
inline bool clearly_better(const WayCost& a, const WayCost& given, bool longer_loops,
                           const target::Costs::Search& costs) {
  const double gain = longer_loops ? costs.clear_gain_of_longer_loops : costs.clear_gain;
  return a.us < (1 - gain) * given.us && a.us < given.us - costs.clear_us;
}

}  // namespace zellige::cost
