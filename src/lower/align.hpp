// Decides which matmul operands are first copied into tensors with padded rows, because their rows are not aligned
// for cp.async or TMA, and creates the kernel that copies them.
//
// Rows of 777 halves are only 2-byte aligned: threads must load them through registers (load_anywhere) and wait for
// the loads. A copy into rows of 784 halves reads the operand once; the matmul's own loads are then asynchronous.
#pragma once
#include <optional>

#include "lower/lower.hpp"

namespace zellige::lower {

/// Makes a custom operator's kernel read its matmul operands from copies with aligned rows, if their rows are
/// unaligned and a copy pays. Returns the kernel that makes all these copies and must run before; nullopt if there are
/// none. The caller decides by expected times whether it keeps the copies (plan::lowered). The kernel is called
/// NAME_copy, and each of its blocks copies at most one tile of each tensor.
std::optional<tile::TileProgram> align_operands(tile::TilePrograms&, tile::TileProgram&, const target::Target&);

}  // namespace zellige::lower
