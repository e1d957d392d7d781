// Makes extents of a lowered program sizes that are known at launch, such as the rows and K of a product, the keys of attention, or
// the length of rows that are normalized.
//
//   Program program = lower(graph, target);   // of a graph with 8192 rows
//   give_size(program, {.name = "T", .low = 1, .high = 8192, .of = {{x, 0}}});
//   give_sizes(program, {{.name = "B", .high = 8, .of = {{x, 0}}}, {.name = "T", .high = 512, .of = {{x, 1}}}});
//
// Tiles stay as they are. What follows from the sizes is the number of blocks and of iterations, the extents of the tensors that are
// computed of these inputs, also of those whose dimensions are products of several, and where tiles and masks end: all tiles need a
// bounds check there unless their extent divides every value. A sum or maximum over such a dimension is masked at its end.
#pragma once
#include "tile/program.hpp"

namespace zellige::lower {

/// Adds the sizes to the program, and the dimensions of all other tensors that have them, too, to `of`; adds sizes that are computed
/// of them, such as B*T. Throws Error, one sentence with the size and who needs it, if a kernel needs one as a constant: in a part or
/// a rotation of the dimension, for several dimensions' digits of one index, or with other inputs of constant extent.
void give_sizes(tile::TilePrograms&, const tile::SizeList&);
inline void give_size(tile::TilePrograms& program, tile::Size size) { give_sizes(program, {std::move(size)}); }

/// Sets the strides that depend on sizes of tensors that had none when the sizes were given.
void give_strides(tile::TilePrograms&);

}  // namespace zellige::lower
