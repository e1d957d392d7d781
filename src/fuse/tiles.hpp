// First tiles of a group: which axes the grid cuts and what the loop runs along. Where a tiling is better, retiling finds it.
#pragma once
#include "fuse/body.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// Axes that a loop may run along, and -1 for none.
std::vector<int> loop_axes(const Steps&, const Axes&);

/// Tilings that are worth a price, for one axis of the loop. Empty: nothing that blocks could share, and too large for one.
std::vector<Tiles> tilings(const Steps&, const Axes&, int loop_axis, const target::Target&);

/// Of a group with a product whose result has the axis: each block has one tile along it, and its loop sums the product. Such parts
/// are put together by another kernel. Empty where a product sums over the axis.
std::vector<Tiles> parted(const Steps&, const Axes&, int axis, const target::Target&);

/// The same with the loop split among blocks, where there are too few of them.
std::vector<Tiles> splits(const Tiles&, const target::Target&);

}  // namespace zellige::fuse
