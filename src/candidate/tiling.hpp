// The tiling of a group of operators: which axes the grid splits into how many blocks, and along which axis the block
// graph (body.hpp) loops.
#pragma once
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

  /// Returns whether A and B of the matmuls are swapped.
  bool swaps() const { return shape && shape->swap_ab; }
};

}  // namespace zellige::candidate
