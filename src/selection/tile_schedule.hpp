// Tile scheduler: chooses the order in which persistent blocks compute the output tiles of their kernel, so
// that tiles in flight share operands in the L2 cache.
//
//   // 32 x 16 tiles, visited in groups of 16 rows of tiles; tile (row, column) has grid index row * 16 + column:
//   TileSchedule w = tile_schedule(plan);    // {.rows = 32, .columns = 16, .group = 16}
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::selection {

/// An order of the grid's tiles, as a matrix of `rows` x `columns` tiles that is traversed in groups of
/// `group` rows (block/tile_scheduler.hpp). If `rows` is 0, the grid is no such matrix, and its tiles are
/// taken in order of their index.
struct TileSchedule {
  std::int64_t rows = 0, columns = 0, group = 1;
  int row_axis = 0, column_axis = 0;  // grid axes of rows and columns; equal if one axis counts both
  // The grid axis along which later blocks run more iterations (a causal mask); long and short tiles then
  // alternate. -1: none.
  int longer = -1;
};

/// Returns the tile order of a kernel whose tasks are planned. The order follows from the kernel's matmul on
/// warpgroups or, if a mask bounds its loop, from the loop bounds. `product` is this matmul, if the kernel has no steps.
TileSchedule tile_schedule(const kernel::Kernel&, const kernel::Work* product = nullptr);

/// Returns the share of the pairs of adjacent blocks (0 and 1, 2 and 3 ...) of which both load the same tile of `load`, a node,
/// in the same iteration. Only the first `blocks` blocks are considered, those that begin together.
double shared_by_neighbours(const kernel::Kernel&, const TileSchedule&, const tile::Node& load, std::int64_t blocks);

/// Returns whether each tile of a load is read by only one block or cluster, as weights are for a small M.
/// The load may then use a cache hint that evicts its data from L2 first.
bool passes_once(const kernel::Kernel&, const kernel::Step& load);

}  // namespace zellige::selection
