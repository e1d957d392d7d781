// Makes extents of a lowered program sizes that are known at launch: dimensions that the blocks of a grid divide, and that are
// the outermost ones in memory, such as the rows of a product.
//
//   Program program = lower(graph, target, {});   // of a graph with 8192 rows
//   give_size(program, {.name = "T", .low = 64, .high = 8192, .multiple = 64, .of = {{x, 0}}});
//
// Tiles stay as they are. What follows from the size is the number of blocks, the extents of the tensors that are computed of
// the rows, and where their tiles end: all tiles need a bounds check there unless their extent divides every value.
#pragma once
#include "tile/program.hpp"

namespace zellige::lower {

/// Adds the size to the program, and the dimensions of all other tensors that have it, too, to `of`. Throws Error if a kernel
/// needs it as a constant: as the extent of one tile, in a loop, in a view, or with other tensors of constant extent.
void give_size(tile::TilePrograms&, tile::Size);

}  // namespace zellige::lower
