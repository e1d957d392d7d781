// Tile schedulers: the order (rasterization) in which persistent blocks take the tiles of a matrix. Tiles go
// in groups of rows, column by column within a group, so that the tiles in flight share rows and columns in
// the L2; if a group's rows are a multiple of four, four rows of two columns at a time. Eight consecutive
// blocks run concurrently, and what several of them load at the same time is read once.
//
//   for (int t = blockIdx.x; t < order.tiles(); t += gridDim.x) { auto [row, column] = order(t); ... }
//
// HeadOrder does the same for attention's rows, head by head; LongAndShort for any grid whose tiles differ in
// work.
#pragma once
#include <zellige/atom/config.hpp>

namespace zellige {

struct TileOrder {
  int rows, columns;  // in tiles
  int group;          // rows per group

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

/// A schedule for tiles whose work grows along one axis: a block takes the n-th tile from the end, then the
/// n-th from the beginning, so that the pairs balance. `below`: the distance between tiles along the axis,
/// whose extent must be even.
///
///   for (int pair = blockIdx.x, turn = 0; pair < tiles / 2; pair += turn * gridDim.x, turn ^= 1) { int t = order(pair, turn); ... }
struct LongAndShort {
  int below, extent;

  ZELLIGE_ANYWHERE int operator()(int pair, int iteration) const {
    const int low = pair % below, n = pair / below % (extent / 2), high = pair / (below * (extent / 2));
    return low + below * ((iteration ? n : extent - 1 - n) + extent * high);
  }
};

/// Tiles of the rows of several heads; each block of the grid takes `iterations` of them. Causal: later rows have
/// more work, so a block takes a long tile and the short one that balances it, from both ends of a head.
template <bool Causal>
struct HeadOrder {
  int tiles, heads;  // per head; heads

  struct Place {
    int tile, head;  // tile -1: nothing to do
  };
  ZELLIGE_ANYWHERE int per_head() const { return Causal ? (tiles + 1) / 2 : tiles; }
  ZELLIGE_ANYWHERE int iterations(int blocks) const {
    return (per_head() * heads + blocks - 1) / blocks * (Causal ? 2 : 1);
  }
  ZELLIGE_ANYWHERE Place operator()(int iteration, int block, int blocks) const {
    const int unit = (Causal ? iteration / 2 : iteration) * blocks + block, head = unit / per_head(),
              r = unit % per_head();
    if (head >= heads || (Causal && iteration % 2 && 2 * r + 1 == tiles)) return {-1, 0};
    return {Causal && iteration % 2 == 0 ? tiles - 1 - r : r, head};
  }
};

}  // namespace zellige
