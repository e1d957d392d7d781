// In which order blocks that stay take the tiles of their kernel's grid: those in flight at a time should share operands, so
// that these stay in the L2.
//
//   TileWalk w = tile_walk(plan);    // {.rows = 32, .columns = 16, .group = 16}: block x is row * columns + column
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Rows and columns of tiles of the kernel's product on warpgroups, taken in groups of rows (block/tile_scheduler.hpp); rows 0:
/// the grid has no such form, and its tiles are taken as they come.
struct TileWalk {
  std::int64_t rows = 0, columns = 0, group = 1;
  int row_axis = 0, column_axis = 0;  // of the grid; the same where one axis counts both
  int longer =
      -1;  // the axis along which blocks make more and more iterations: a long tile and a short one in turn; -1: none
};

TileWalk tile_walk(const KernelPlan&);

/// Whether a load brings weights of which one block, or one cluster together, reads each tile: the L2 need not keep them.
bool passes_once(const KernelPlan&, int load);

}  // namespace zellige::plan
