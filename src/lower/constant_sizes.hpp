// Puts constants in the place of sizes that are known at launch: the program of one launch. Its tiles, layouts and steps stay
// those that were planned for the largest values.
#pragma once
#include <cstdint>
#include <span>

#include "tile/program.hpp"

namespace zellige::lower {

/// Gives the views and the grid of a kernel of `program` what they are where size i is values[i].
void set_sizes(tile::TileProgram& kernel, const tile::TilePrograms& program, std::span<const std::int64_t> values);
/// Gives the tensors of a program what they are for these values, and removes its sizes. Its kernels must have their values already.
void set_sizes(tile::TilePrograms&, std::span<const std::int64_t> values);

}  // namespace zellige::lower
