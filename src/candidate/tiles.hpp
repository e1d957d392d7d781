// Chooses initial tilings of a group of operators: which axes the grid splits into how many blocks, which axis the block
// graph (body.hpp) loops along, and how many threads a block has. Retiling may improve a tiling later.
#pragma once
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "candidate/axes.hpp"
#include "retile/tiling.hpp"

namespace zellige::candidate {

/// One grid dimension: the axes that it splits, into how many blocks. It has several axes if they are
/// different dimensions of values that never occur in one step, such as heads of queries and heads of keys.
struct GridCut {
  std::vector<int> axes;
  std::int64_t blocks = 1;
  bool operator==(const GridCut&) const = default;
};

/// The tiling of a group: grid, loop and threads.
struct GroupTiling {
  std::array<GridCut, 3> grid;
  int loop_axis = -1;     // the axis that the loop runs along; -1: no loop
  std::int64_t loop = 1;  // number of iterations
  int threads = 128;
  std::optional<retile::MatmulTile> shape{};  // of matmuls' tiles, if the group has any
  // The grid dimension that splits the loop axis (split-K): each block computes partial results, which a
  // second kernel combines. -1: none.
  int split = -1;
  // Set if `split` is and each block has one tile along loop_axis: the axis of the block's own loop, for example K of a
  // matmul whose results are then summed over loop_axis. -1: the block's loop runs along loop_axis.
  int inner_axis = -1;
  // By axis whose last tile is partial: the extent that all tiles cover together, which is more than the axis has.
  std::map<int, std::int64_t> extents{};

  /// Returns the number of blocks.
  std::int64_t blocks() const { return grid[0].blocks * grid[1].blocks * grid[2].blocks; }
  /// Returns the first grid dimension that splits nothing; 3: none.
  int free_dimension() const { return static_cast<int>(std::ranges::find(grid, 1, &GridCut::blocks) - grid.begin()); }
  /// Returns whether A and B of the matmuls are swapped.
  bool swaps() const { return shape && shape->swap_ab; }
};

/// The tiles that are tried for the group's matmuls.
struct MatmulTiles {
  std::vector<retile::MatmulTile> tiles;
  // The tiles are taken as they are, with partial ones at the ends; otherwise they are limits of equal parts, too.
  bool exact = false;
};

/// Returns the tiles to try for the matmuls of a group whose steps are given; none if it has no matmul (matmul_shapes_of.cpp).
///
/// - A matmul of loaded operands: those of all for which the target has instructions (tiling/matmul_shapes.hpp) that are
///   fastest for the matmul by itself.
/// - Several matmuls: a few of each size.
MatmulTiles shapes_of(const graph::KernelGraph&, const GroupSteps&, const target::Target&);

/// Returns the axes along which the loop may run, and -1, which means a kernel without a loop.
std::vector<int> loop_axes(const GroupSteps&, const Axes&);

/// Returns the tilings with a loop along `loop_axis` (-1: no loop) that are worth estimating. Returns none if
/// the loaded tiles would not fit into shared memory.
std::vector<GroupTiling> tilings(const GroupSteps&, const Axes&, int loop_axis, const target::Target&,
                                 const MatmulTiles& = {});

/// Returns tilings for a group that reduces a matmul's result along `axis`, such that different blocks have
/// different parts of that axis. Each block has one tile along the axis, its loop runs along K of the matmul,
/// and a second kernel combines the blocks' partial results. Returns none if a matmul reduces over the axis.
std::vector<GroupTiling> split_tilings(const GroupSteps&, const Axes&, int axis, const target::Target&,
                                       const MatmulTiles&);

/// Returns tilings for a group without matmuls that has few rows, or rows that do not fit into a block. Each
/// block reduces one tile of a row. Another kernel combines these partial results, and reads the row again if the group
/// stores a tensor along the row, as a softmax does.
/// Returns none if an unsplit tiling has enough blocks for at least half of the multiprocessors, unless its blocks would read
/// a row again.
std::vector<GroupTiling> row_splits(const GroupSteps&, const Axes&, const target::Target&);

/// Returns variants of a tiling whose loop is split over blocks (split-K): with the fewest parts that keep most
/// multiprocessors busy, the next number of iterations, and if `with_max` with the most parts. Returns none if the tiling has no
/// loop, if it uses all three grid dimensions, or if it has more blocks than half the number of multiprocessors.
std::vector<GroupTiling> splits(const GroupTiling&, const target::Target&, bool with_max);

}  // namespace zellige::candidate
