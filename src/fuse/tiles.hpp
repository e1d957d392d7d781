// Initial tilings of a group: which axes the grid splits and what the loop runs along. Retiling improves them
// later.
#pragma once
#include "fuse/body.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// Returns the axes that a loop may run along, and -1 for no loop.
std::vector<int> loop_axes(const Steps&, const Axes&);

/// Returns the tilings worth estimating for one loop axis. Empty if nothing can be split over blocks and it
/// is too large for one.
std::vector<Tiles> tilings(const Steps&, const Axes&, int loop_axis, const target::Target&);

/// Returns tilings for a group with a matmul whose result has the axis: each block has one tile along the
/// axis, and its loop computes the matmul; another kernel combines these partial results. Empty if a matmul
/// reduces over the axis.
std::vector<Tiles> split_tilings(const Steps&, const Axes&, int axis, const target::Target&);

/// Whether what a group stores lies along the axis that it reduces over, as of a softmax.
enum class Stored : std::uint8_t { along_rows, anyhow };

/// Returns tilings for a group without matmuls that has few rows, or rows that do not fit in a block: each
/// block reduces one tile of a row, and another kernel combines these partial results and reads the row again.
std::vector<Tiles> row_splits(const Steps&, const Axes&, const target::Target&, Stored);

/// Returns the same tiling with the loop split over blocks (split-K), if the grid has too few of them.
std::vector<Tiles> splits(const Tiles&, const target::Target&);

}  // namespace zellige::fuse
