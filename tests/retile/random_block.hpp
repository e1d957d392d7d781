// Random block graphs whose sizes have many divisors, and random tilings of them, sensible or not.
#pragma once
#include "random/rng.hpp"
#include "retile/tiling.hpp"

namespace zellige::retile::test {

/// One custom operator, or two of which the second adds the partial results of the first.
graph::KernelGraph random_blocks(std::uint64_t seed);

/// One or two extents changed.
Tiling random_tiling(const graph::KernelGraph&, random_graphs::Rng&);

}  // namespace zellige::retile::test
