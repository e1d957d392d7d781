// What a program with sizes is for values of them: the meaning of its sizes, which tests interpret.
//
//   const TilePrograms at_300 = at_sizes(program, {300});   // of constants: extents, strides, grids, iterations, ends of masks
#pragma once
#include <set>
#include <string>

#include "tile/program.hpp"

namespace zellige::tile {

/// Gives a kernel of `program`, or a program whose kernels have constants already, what they are for these values of all sizes.
void set_sizes(TileProgram& kernel, const TilePrograms& program, const ValuesBySize& all);
void set_sizes(TilePrograms&, const ValuesBySize& all);

/// Makes a kernel's grid that of the largest values: blocks beyond the end have tiles without elements.
void take_all_tiles(TileProgram&);

/// Returns the names of the sizes on which it depends whether rows of a tensor begin at multiples of `elements`.
std::set<std::string> sizes_of_rows(const TilePrograms&, std::int64_t elements);

/// Returns the program of constants for these values of the sizes that a launch gives, in order. Throws Error if one is out of its range.
TilePrograms at_sizes(TilePrograms, const ValuesBySize& given);

}  // namespace zellige::tile
