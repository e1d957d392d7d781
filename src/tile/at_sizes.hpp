// What a program with sizes is for values of them: the meaning of its sizes, which tests interpret.
//
//   const TilePrograms at_300 = at_sizes(program, {300});   // of constants: extents, strides, grids, iterations, ends of masks
#pragma once
#include "tile/program.hpp"

namespace zellige::tile {

/// Returns the program of constants for these values of the sizes that a launch gives, in order. Throws Error if one is out of its range.
TilePrograms at_sizes(TilePrograms, const SizeValues& given);

}  // namespace zellige::tile
