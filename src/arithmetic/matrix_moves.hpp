// Executes ldmatrix, stmatrix and movmatrix by a table of the source of each element.
#pragma once
#include "zellige/atom/instruction.hpp"

namespace zellige::arithmetic {

/// Executes an instruction that moves 8x8 matrices, with the same bits as its reference body. Returns false, and has written
/// nothing, if the instruction is another one, or if a thread whose elements are wanted names no source.
bool move_matrices(const Instruction&, const BodyOperands&);

}  // namespace zellige::arithmetic
