// The order in which a persistent grid takes the tiles of a matrix: groups of rows, column by column within a
// group, so that the tiles in flight share rows and columns in the L2.
//
//   for (int t = blockIdx.x; t < order.tiles(); t += gridDim.x) { auto [row, column] = order(t); ... }
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
    return {g * group + in_group % height, in_group / height};
  }
};

}  // namespace zellige
