// Tile scheduler: the order in which persistent blocks take the tiles of their kernel's grid, such that tiles
// in flight share operands in the L2.
//
//   TileSchedule w = tile_schedule(plan);    // {.rows = 32, .columns = 16, .group = 16}: block x is row * columns + column
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Rows and columns of tiles of the kernel's matmul on warpgroups, taken in groups of rows
/// (block/tile_scheduler.hpp); rows 0: the grid has no such form, and its tiles are taken in order.
struct TileSchedule {
  std::int64_t rows = 0, columns = 0, group = 1;
  int row_axis = 0, column_axis = 0;  // of the grid; equal if one axis counts both
  // The axis along which blocks run more and more iterations, so that long and short tiles alternate; -1: none.
  int longer = -1;
};

TileSchedule tile_schedule(const KernelPlan&);

/// Returns whether each tile of a load is read by only one block or cluster, as weights are: the L2 need not
/// keep it.
bool passes_once(const KernelPlan&, int load);

}  // namespace zellige::plan
