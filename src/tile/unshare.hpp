// Undoes share() of the table of rewrites, for kernels that do not fit shared memory.
#pragma once
#include "tile/program.hpp"

namespace zellige::tile {

/// Undoes share() for the largest values that it stored, so that their users recompute them. The nodes (operators) keep
/// their numbers, and unused nodes remain. Returns false if share() has stored no value.
bool unshare(TileProgram&);

}  // namespace zellige::tile
