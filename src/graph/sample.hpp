// Which parts of a program's tensors are checked where checking all of them would take too long.
//
//   for (const Sample& s : sample(g, {t, y}, seed, {}))   // of each tensor: tiles chosen at random, and from what they follow
//     for (std::int64_t i : s.tiles) cut(g, s.tensor, s.tiling.at(i), s.known)
//
// A tensor is divided into tiles of up to 128 x 128. The last of them is always taken, where a ragged edge would be; of the others
// as many as the work allows, each with the same chance. A tile follows from the graph's inputs; where that takes too much, from
// the nearest tensors that are checked as well: then each stage is checked on its own, by what the run itself gave to it.
#pragma once
#include <cstdint>
#include <string>

#include "graph/cut.hpp"

namespace zellige::graph {

struct Tiling {
  Shape shape, tile;
  std::int64_t count() const;
  Region at(std::int64_t index) const;  // the last ones along a dimension may be smaller
};
Tiling tiling(const Shape&);

struct Sample {
  int tensor = -1;
  Tiling tiling;
  std::vector<std::int64_t> tiles;  // indices into the tiling, ascending
  std::vector<bool> known;          // for cut(); empty: the tiles follow from the inputs
  std::vector<int> from;            // the tensors that they follow from
  double work = 0;                  // of one tile
};

struct SampleLimits {
  double work = 1e11;       // of all tensors together; one tile of each is taken in any case
  std::int64_t most = 256;  // tiles of a tensor
};

/// `tensors`: those that the run stored, outputs and intermediates.
std::vector<Sample> sample(const KernelGraph&, const std::vector<int>& tensors, std::uint64_t seed,
                           const SampleLimits& = {});

/// From this work on a check is by sample unless the user says otherwise: all of it would take some ten seconds, as the reference
/// runs several times to find the scales of the inputs.
constexpr double sampled_from = 4e10;

}  // namespace zellige::graph
