// mma.sync on the emulator: a warp collective that runs the instruction's reference body once for the 32
// threads.
#pragma once

#include <zellige/atom/emulated_body.hpp>

namespace zellige {

/// d += a b by the instruction Op. Values of the given bytes (4 or 2, 0: integers) are checked for unwritten
/// registers.
template <class Op, int OperandBytes, int SumBytes>
ZELLIGE_CALL void mma_met(typename Op::DRegisters& d, const typename Op::ARegisters& a,
                          const typename Op::BRegisters& b) {
  using In = reference::MmaOperands<Op>;
  using Out = reference::MmaResult<Op>;
  if constexpr (SumBytes != 0)
    emulate::look_for_unwritten<SumBytes>(d, sizeof(In::c), emulate::Use::accumulates);
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
