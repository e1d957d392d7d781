// Proves that the blocks of a kernel store each element of what it stores exactly once, and access no element beyond its tensors.
// The map from block and coordinate in
// the tile to the tensor's coordinate is read off the store's view, as a number in mixed radix:
//
//   grid (4,3)   view (by, -) -> (_3,_1,_128):(_128,_0,_1) from 0 to 384     // by has the digit 3: all of 3
//                view (bx, -) -> (_4,_1,_128):(_128,_0,_1) from 0 to 512     // bx has the digit 4: all of 4
//
// Each axis of the grid has to be the product of the digits that number tiles along it; a third axis of 2 would be left, and
// two blocks would store each tile.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::verify {

/// Throws Rejected unless
///
/// - every tile of a load or store stays inside its tensor or has a bounds check, for all values of the program's sizes;
/// - different blocks store different tiles, and the tiles of all blocks cover the tensor from where the store begins to
///   where it ends;
/// - blocks that take several tiles take all tiles, each once, in whole clusters;
/// - tensors that are stored with indices, whose places are known at run time, are so for all indices.
void verify_coverage(const kernel::Kernel&, const tile::TilePrograms&);

}  // namespace zellige::verify
