// Proves that a tile program is one: that the operands of each node have the shapes and types that its kind takes. The proofs of
// the kernel, and the emitter, take that for granted. The lowering infers shapes; a source may say anything.
#pragma once
#include "tile/program.hpp"

namespace zellige::verify {

/// Throws Rejected unless each node of the program has operands from which its kind yields its shape and dtype.
void verify_tile_program(const tile::TileProgram&);

}  // namespace zellige::verify
