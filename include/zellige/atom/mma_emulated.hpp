// Implements mma.sync on the emulator, as a warp collective: when all 32 threads have called it, the instruction's
// reference implementation computes all results once.
#pragma once

#include <zellige/atom/emulated_body.hpp>

namespace zellige {

/// Computes d += a b with instruction Op on the emulator, as a warp collective. Also reports registers that were never
/// written: of a and b unless OperandBytes is 0, of d unless SumBytes is 0. OperandBytes and SumBytes are the sizes of
/// a number in these registers, 2 or 4; 0 for integers, f64 and 8-bit floats, which are not checked.
template <class Op, int OperandBytes, int SumBytes>
ZELLIGE_CALL void mma_met(typename Op::DRegisters& d, const typename Op::ARegisters& a,
                          const typename Op::BRegisters& b) {
  using In = reference::MmaOperands<Op>;
  using Out = reference::MmaResult<Op>;
  if constexpr (SumBytes != 0) emulate::look_for_unwritten<SumBytes>(d, sizeof(In::c), emulate::Use::accumulates);
  if constexpr (OperandBytes != 0) {
    emulate::look_for_unwritten<OperandBytes>(a, sizeof(In::a), emulate::Use::multiplies);
    emulate::look_for_unwritten<OperandBytes>(b, sizeof(In::b), emulate::Use::multiplies);
  }
  In mine;
  __builtin_memcpy(mine.a, a, sizeof(mine.a));
  __builtin_memcpy(mine.b, b, sizeof(mine.b));
  __builtin_memcpy(mine.c, d, sizeof(mine.c));
  const auto compute = [](const In* in, Out* out) {
    emulate::count(emulate::Counter::mma);
    run_body<Op::name>(reference::WarpRegisters(in, out));
  };
  const Out result = emulate::meet<In, Out>(mine, compute, Op::name);
  __builtin_memcpy(d, result.d, sizeof(result.d));
}

}  // namespace zellige
