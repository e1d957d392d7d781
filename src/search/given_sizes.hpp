// Two graphs in float64 at the sizes they are given in, by the reference without its rounding.
#pragma once
#include "search/equal.hpp"
#include "search/match.hpp"
#include "search/point.hpp"

namespace zellige::search {

struct GivenSizes {
  bool compared = false;  // false: at no scale most of the elements were finite
  double distance = 0;    // the greatest of any row's: the difference's norm over the row's
  std::string output;     // where it is
  graph::Shape element;
  double in_a = 0, in_b = 0;
};

/// At the scale that is asked for, if one is, and at the first usual one that leaves most elements finite.
GivenSizes given_sizes(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&,
                       std::uint64_t seed, std::optional<Scale> also = {});

}  // namespace zellige::search
