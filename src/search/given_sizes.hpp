// Two graphs in float64 at the sizes they are given in, by the reference without its rounding.
#pragma once
#include "search/equal.hpp"
#include "search/match.hpp"

namespace zellige::search {

struct GivenSizes {
  bool compared = false;        // false: no inputs were found that leave both finite
  double distance = 0;          // the greatest of any row's: the difference's norm over the row's
  std::string output;           // where it is
  graph::Shape element;
  double in_a = 0, in_b = 0;
};

GivenSizes given_sizes(const graph::KernelGraph& a, const graph::KernelGraph& b, const Pairing&, std::uint64_t seed);

}  // namespace zellige::search
