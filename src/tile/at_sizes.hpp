// What a program with sizes is for values of them: the meaning of its sizes, which tests interpret.
//
//   const TilePrograms at_300 = at_sizes(program, {300});   // of constants: extents, strides, grids, iterations, ends of masks
#pragma once
#include "tile/program.hpp"

namespace zellige::tile {

/// Gives a kernel of `program`, or a program whose kernels have constants already, what they are for these values of all sizes.
void set_sizes(TileProgram& kernel, const TilePrograms& program, const ValuesBySize& all);
void set_sizes(TilePrograms&, const ValuesBySize& all);

/// Returns the program of constants for these values of the sizes that a launch gives, in order. Throws Error if one is out of its range.
TilePrograms at_sizes(TilePrograms, const ValuesBySize& given);

}  // namespace zellige::tile
