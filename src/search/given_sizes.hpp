// Compares two graphs in float64 at their given sizes, with the reference without rounding, to find a
// difference.
#pragma once
#include "search/equal.hpp"
#include "search/match.hpp"
#include "search/point.hpp"

namespace zellige::search {

struct GivenSizes {
  bool compared = false;  // false: most elements were infinite or NaN at every scale
  double distance = 0;    // largest relative distance of a row, in norm; infinite: another class
  std::string output;     // the output that has it
  graph::Shape element;
  double in_a = 0, in_b = 0;
  std::vector<graph::Array> inputs;  // the inputs that show it
};

/// Tries the requested scale, if any, and the first default scale that leaves most elements finite; a NaN in
/// place of a number counts if inputs are so small that nothing overflows. Uses `points` points of each, and
/// `peaks` of peaks.
GivenSizes given_sizes(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&,
                       std::uint64_t seed, std::optional<Scale> also = {}, int points = 1, int peaks = 0);

}  // namespace zellige::search
