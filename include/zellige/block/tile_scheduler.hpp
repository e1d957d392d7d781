// The order in which a persistent grid takes the tiles of a matrix: groups of rows, column by column within a
// group, so that the tiles in flight share rows and columns in the L2; where a group's rows go by four, four rows of two columns at a
// time. Eight blocks that follow each other run side by side on the chip, and what several of them ask for at a time is read once.
//
//   for (int t = blockIdx.x; t < order.tiles(); t += gridDim.x) { auto [row, column] = order(t); ... }
//
// And that of attention's rows, head by head: HeadOrder; of any grid's tiles, of which some have more to do than others: LongAndShort.
#pragma once
#include <zellige/atom/config.hpp>

namespace zellige {

struct TileOrder {
  int rows, columns;  // tiles
  int group;          // rows of a group

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

/// Tiles of which those further along one axis have more to do than those before them: a block takes the n-th from the end, and
/// behind it the n-th from the beginning, which make up for each other. `below`: tiles from one to the next along the axis, of
/// which there is an even number.
///
///   for (int pair = blockIdx.x, turn = 0; pair < tiles / 2; pair += turn * gridDim.x, turn ^= 1) { int t = order(pair, turn); ... }
struct LongAndShort {
  int below, extent;

  ZELLIGE_ANYWHERE int operator()(int pair, int turn) const {
    const int low = pair % below, n = pair / below % (extent / 2), high = pair / (below * (extent / 2));
    return low + below * ((turn ? n : extent - 1 - n) + extent * high);
  }
};

/// Tiles of the rows of several heads: each block of the grid takes `turns`. Causal: rows further down have more to do, so a
/// block takes a long tile and the short one that makes up for it, from both ends of a head.
template <bool Causal>
struct HeadOrder {
  int tiles, heads;  // of a head; heads

  struct Place {
    int tile, head;  // tile -1: nothing to do
  };
  ZELLIGE_ANYWHERE int per_head() const { return Causal ? (tiles + 1) / 2 : tiles; }
  ZELLIGE_ANYWHERE int turns(int blocks) const {
    return (per_head() * heads + blocks - 1) / blocks * (Causal ? 2 : 1);
  }
  ZELLIGE_ANYWHERE Place operator()(int turn, int block, int blocks) const {
    const int unit = (Causal ? turn / 2 : turn) * blocks + block, head = unit / per_head(),
              r = unit % per_head();
    if (head >= heads || (Causal && turn % 2 && 2 * r + 1 == tiles)) return {-1, 0};
    return {Causal && turn % 2 == 0 ? tiles - 1 - r : r, head};
  }
};

}  // namespace zellige
