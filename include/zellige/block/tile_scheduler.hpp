// Defines tile schedulers: the order (rasterization) in which persistent blocks compute the output tiles of a matrix.
// TileOrder visits one group of tile rows after another, column by column within a group, so that tiles computed at the
// same time share operands in the L2. If a group has a multiple of four rows, and the matrix an even number of tile
// columns, TileOrder visits sub-blocks of 4 x 2 tiles: eight consecutive blocks run at the same time and share what
// they load.
//
//   for (int t = blockIdx.x; t < order.tiles(); t += gridDim.x) { auto [row, column] = order(t); ... }
//
// HeadOrder is the order of attention's query tiles, head by head. LongAndShort is an order for tiles whose work grows
// along one dimension of the grid: it pairs a tile that takes long with one that takes short.
#pragma once
#include <zellige/atom/config.hpp>

namespace zellige {

/// Grouped rasterization of rows x columns tiles: order(t) returns the row and column of the t-th tile.
struct TileOrder {
  int rows, columns;  // in tiles
  int group;          // tile rows per group

  struct Place {
    int row, column;
  };
  ZELLIGE_ANYWHERE int tiles() const { return rows * columns; }
  ZELLIGE_ANYWHERE Place operator()(int t) const {
    const int g = t / (group * columns), in_group = t - g * group * columns;
    const int left = rows - g * group, height = left < group ? left : group;
    const bool blocks = height % 4 == 0 && columns % 2 == 0;
    const int tall = blocks ? 4 : height, wide = blocks ? 2 : 1;
    const int strip = in_group / (height * wide), in_strip = in_group - strip * height * wide;
    const int block = in_strip / (tall * wide), at = in_strip - block * tall * wide;
    return {g * group + block * tall + at % tall, strip * wide + at / tall};
  }
};

/// Tile order for a grid whose tiles have more work the larger their index is along one dimension. A block computes the
/// n-th tile from the end of this dimension, then the n-th from the beginning, so that all such pairs have equal work.
/// `extent` is the dimension's number of tiles, which must be even; `below` is the number of tiles in the faster
/// dimensions.
///
///   for (int pair = blockIdx.x, turn = 0; pair < tiles / 2; pair += turn * gridDim.x, turn ^= 1) { int t = order(pair, turn); ... }
struct LongAndShort {
  int below, extent;

  ZELLIGE_ANYWHERE int operator()(int pair, int iteration) const {
    const int low = pair % below, n = pair / below % (extent / 2), high = pair / (below * (extent / 2));
    return low + below * ((iteration ? n : extent - 1 - n) + extent * high);
  }
};

/// Order of attention's query tiles: `tiles` tiles for each of `heads` heads. Each block makes iterations(blocks)
/// iterations and computes at most one tile in each. Causal: later tiles have more work, so a block computes the n-th
/// tile from the end of a head and then the n-th from its beginning. All such pairs have equal work; a middle tile has
/// no partner.
template <bool Causal>
struct HeadOrder {
  int tiles, heads;  // tiles per head, number of heads

  struct Place {
    int tile, head;  // tile -1: nothing to do
  };
  ZELLIGE_ANYWHERE int per_head() const { return Causal ? (tiles + 1) / 2 : tiles; }
  /// Returns the number of iterations that each block makes if the grid has `blocks` blocks. A block computes at most
  /// one tile per iteration.
  ZELLIGE_ANYWHERE int iterations(int blocks) const {
    return (per_head() * heads + blocks - 1) / blocks * (Causal ? 2 : 1);
  }
  /// Returns the tile and head that block number `block` of `blocks` computes in iteration number `iteration`. The tile
  /// is -1 if the block has nothing to compute in this iteration.
  ZELLIGE_ANYWHERE Place operator()(int iteration, int block, int blocks) const {
    const int unit = (Causal ? iteration / 2 : iteration) * blocks + block, head = unit / per_head(),
              r = unit % per_head();
    if (head >= heads || (Causal && iteration % 2 && 2 * r + 1 == tiles)) return {-1, 0};
    return {Causal && iteration % 2 == 0 ? tiles - 1 - r : r, head};
  }
};

}  // namespace zellige
