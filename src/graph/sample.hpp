// Chooses which parts of a program's tensors are checked when checking all of them would take too long.
//
//   for (const Sample& s : sample(g, {t, y}, seed, {}))  // per tensor: random tiles and their sources
//     for (std::int64_t i : s.tiles) cut(g, s.tensor, s.tiling.at(i), s.known)
//
// A tensor is divided into tiles of up to 128 x 128. The last tile is always taken, because it may be
// partial; of the others, those that the work limit allows, with equal probability. A tile is computed from
// the graph's inputs; if that costs too much, from the nearest tensors that are checked as well: then each
// stage is checked on its own, with the run's own operands.
#pragma once
#include <cstdint>
#include <string>

#include "graph/cut.hpp"

namespace zellige::graph {

struct Tiling {
  Shape shape, tile;
  std::int64_t count() const;
  Region at(std::int64_t index) const;  // the last tiles along a dimension may be smaller
};
Tiling tiling(const Shape&);

struct Sample {
  int tensor = -1;
  Tiling tiling;
  std::vector<std::int64_t> tiles;  // indices into the tiling, ascending
  std::vector<bool> known;          // for cut(); empty: the tiles are computed from the inputs
  std::vector<int> from;            // the tensors that they are computed from
  double work = 0;                  // per tile
};

struct SampleLimits {
  double work = 1e11;            // of all tensors together; at least one tile of each is taken
  std::int64_t max_tiles = 256;  // maximum number of tiles per tensor
};

/// `tensors`: those that the run stored, outputs and intermediates.
std::vector<Sample> sample(const KernelGraph&, const std::vector<int>& tensors, std::uint64_t seed,
                           const SampleLimits& = {});

/// Work from which a check is by sample unless the user decides otherwise: a full check would take about ten
/// seconds, because the reference runs several times to find the scales of the inputs.
constexpr double sampled_from = 4e10;

}  // namespace zellige::graph
