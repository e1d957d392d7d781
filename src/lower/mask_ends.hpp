// Masks what lies beyond the end of a dimension whose extent is known at launch: a sum or maximum over it must not see that the last
// tile is partial. Loads return 0 there, so that additions of products need no mask.
#pragma once
#include "tile/program.hpp"

namespace zellige::lower {

/// Adds masks to a kernel, in front of what folds the class of dimensions that dimension `dim` of the tensor of the load or store `node`
/// is in, where beyond their end there is not what leaves the fold unchanged. A mask that has that value already ends there, too.
/// `size`: of the program, with `high` as its largest value.
void mask_ends(tile::TileProgram&, int node, int dim, int size, std::int64_t high);

}  // namespace zellige::lower
