// Executes matrix instructions of floats with the processor's vector instructions.
#pragma once
#include "zellige/atom/instruction.hpp"

namespace zellige::arithmetic {

/// Executes a matrix instruction whose operands are floats of 8 or 16 bits or tf32, with the same bits as its reference body: products of
/// such numbers are exact in double, so a fused multiply-add rounds as a product and an addition do. Returns false, and has written
/// nothing, if the instruction is another one, if a result is a NaN, whose bits the reference body decides, or if the processor
/// has no AVX2.
bool multiply_floats(const Instruction&, const BodyOperands&);
/// Executes a warp's matrix instruction for each of m fragments of A with each of n fragments of B, d += a b: a[i * 32 + l],
/// b[j * 32 + l] and d[(i * n + j) * 32 + l] are the registers of lane l, and products whose d are null are skipped. The bits are
/// those of the reference body. Returns false, and has written nothing, where multiply_floats would, or if the instruction is no m16n8 with
/// accumulators of f32.
bool multiply_fragments(const Instruction&, int m, int n, const void* const* a, const void* const* b, void* const* d);

}  // namespace zellige::arithmetic
