// Digits of blocks' indices that number tiles of dimensions whose extents are known at launch: each is the top one of an axis, so that
// no other digit is divided by a number of tiles that is not known.
#pragma once
#include "tile/program.hpp"

namespace zellige::lower {

/// Gives each of these digits an axis of the grid where it is the top one: its own axis, where others come before it, or an axis without
/// blocks. Throws Error if there are more of them than axes.
void order_digits(tile::TileProgram&, const tile::SizeList&);

}  // namespace zellige::lower
