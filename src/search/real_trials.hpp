// Compares two graphs over the real numbers, with a proved error bound (ball.hpp), at inputs of several
// magnitudes and patterns. Only a difference is proved this way, never equality.
#pragma once
#include "search/equal.hpp"
#include "search/match.hpp"
#include "search/point.hpp"

namespace zellige::search {

/// The result of a comparison over the real numbers.
struct RealTrials {
  std::optional<Counterexample> difference;  // proved, and seen by the float64 reference
  bool unseen = false;                       // a difference is proved, but float64 does not see it
  Scale scale;                               // scale of the inputs that show the difference
  std::vector<reference::Array> inputs;      // inputs that show the difference
  bool loose = false;  // the graphs agree only if scalars that one graph alone has are known to 50 bits
};

/// Evaluates two graphs at inputs that `seed` determines, until their outputs are proved to differ. Returns
/// that difference, at inputs that are as simple as possible, or a result without a difference if none is
/// found. The graphs must be valid and small.
RealTrials real_trials(const GraphPair&, std::uint64_t seed);

}  // namespace zellige::search
