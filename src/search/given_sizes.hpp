// Two graphs in float64 at the sizes they are given in, by the reference without its rounding: what shows a difference.
#pragma once
#include "search/equal.hpp"
#include "search/match.hpp"
#include "search/point.hpp"

namespace zellige::search {

struct GivenSizes {
  bool compared = false;  // false: at no scale most of the elements were finite
  double distance =
      0;  // the greatest of any row's: the difference's norm over the row's; infinite: another class
  std::string output;  // where it is
  graph::Shape element;
  double in_a = 0, in_b = 0;
  std::vector<graph::Array> inputs;  // at which it is
};

/// At the scale that is asked for, if one is, and at the first usual one that leaves most elements finite; NaN against a
/// number counts where inputs are so small that nothing overflows. `points` of each, and so many `peaks`.
GivenSizes given_sizes(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&,
                       std::uint64_t seed, std::optional<Scale> also = {}, int points = 1, int peaks = 0);

}  // namespace zellige::search
