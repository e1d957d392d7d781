// Executes matrix instructions of floats with the processor's vector instructions.
#pragma once
#include "zellige/atom/instruction.hpp"

namespace zellige::arithmetic {

/// Executes a matrix instruction whose operands are floats of 8 or 16 bits or tf32, with the same bits as its reference body: products of
/// such numbers are exact in double, so a fused multiply-add rounds as a product and an addition do. Returns false, and has written
/// nothing, if the instruction is another one, if a result is a NaN, whose bits the reference body decides, or if the processor
/// has no AVX2.
bool multiply_floats(const Instruction&, const BodyOperands&);

}  // namespace zellige::arithmetic
