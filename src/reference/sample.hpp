// Chooses which tiles of a program's tensors are checked if checking all of them would take too long.
//
//   for (const Sample& s : sample(g, {t, y}, seed, {}))         // one Sample for tensor t, one for y
//     for (std::int64_t i : s.tiles)                            // numbers of the tiles to check
//       cut(g, s.tensor, s.tiling.at(i), s.known)               // the subgraph that computes tile i
//
// A tensor is divided into tiles of up to 128 x 128 elements. The last tile is always checked, because it may be
// partial; other tiles are drawn with equal probability, up to the work limit. The expected tile is
// computed from the graph's inputs. If that costs too much, it is computed from the nearest tensors that are checked as
// well, with the values that the kernels stored; each step of the program is then checked separately.
#pragma once
#include <cstdint>

#include "reference/cut.hpp"

namespace zellige::reference {

/// A division of a tensor into tiles.
struct SampleTiling {
  graph::Shape shape, tile;
  std::int64_t count() const;                 // number of tiles
  TensorRegion at(std::int64_t index) const;  // region of one tile; the last along a dimension may be smaller
};
/// Returns the division of a shape into tiles of up to 128 x 128 elements in the last two dimensions, and of
/// one element in the other dimensions.
SampleTiling tiling(const graph::Shape&);

/// The tiles of one tensor that are checked.
struct Sample {
  int tensor = -1;
  SampleTiling tiling;
  std::vector<std::int64_t> tiles;  // indices into the tiling, ascending
  std::vector<bool> known;          // argument of cut(); empty: tiles are computed from the graph's inputs
  std::vector<int> from;            // the tensors from which the tiles are computed
  double work = 0;                  // cost of one tile, as work() counts it
};

struct SampleLimits {
  double work = 1e11;            // of all tensors together, as work() counts it; at least one tile each is checked
  std::int64_t max_tiles = 256;  // per tensor
};

/// Returns the tiles to check, one Sample per tensor in `tensors`: the outputs and intermediates that the
/// program stored. `seed` determines the random tiles.
std::vector<Sample> sample(const graph::KernelGraph&, const std::vector<int>& tensors, std::uint64_t seed,
                           const SampleLimits& = {});

/// Cost of the reference, as work() counts it, from which a program is checked by sample unless the user
/// decides. A complete check would take about ten seconds, because the search for scales of the inputs runs
/// the reference several times.
constexpr double sampled_from = 4e10;

}  // namespace zellige::reference
