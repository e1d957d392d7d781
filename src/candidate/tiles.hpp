// Chooses initial tilings of a group of operators: which axes the grid splits, which axis the loop runs
// along, and how many threads a block has. Retiling may improve a tiling later.
#pragma once
#include "candidate/tiling.hpp"
#include "retile/tiling.hpp"
#include "target/target.hpp"

namespace zellige::candidate {

/// The tiles that are tried for the group's matmuls.
struct MatmulTiles {
  std::vector<retile::MatmulTile> tiles;
  // The tiles are taken as they are, with partial ones at the ends; otherwise they are limits of equal parts, too.
  bool exact = false;
};

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
