// mma.sync on the emulator: the warp meets and the reference body runs once for its 32 threads.
#pragma once

#include <zellige/atom/mma_reference.hpp>
#include <zellige/emulate/device.hpp>

namespace zellige {

/// Each thread's registers go in as an `In`, `body` makes an `Out` of each of the warp's 32, d comes from it.
/// Numbers of `Bytes` bytes (4 or 2, 0: integers) are held against registers that nothing has written.
template <class In, class Out, int OperandBytes, int SumBytes, class D, class A, class B, class Body>
ZELLIGE_CALL void mma_met(D& d, const A& a, const B& b, Body body, const char* name) {
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
  const auto compute = [body](const In* in, Out* out) {
    emulate::count(emulate::Counter::mma);
    body(in, out);
  };
  const Out result = emulate::meet<In, Out>(mine, compute, name);
  __builtin_memcpy(d, result.d, sizeof(result.d));
}

template <class Row>
ZELLIGE_CALL void mma_emulated(typename Row::DRegisters& d, const typename Row::ARegisters& a,
                               const typename Row::BRegisters& b) {
  using In = reference::MmaOperands<Row>;
  using Out = reference::MmaResult<Row>;
  mma_met<In, Out, emulate::number_bytes<typename Row::Element>,
          emulate::number_bytes<typename Row::Accumulator>>(
      d, a, b, [](const In* in, Out* out) { reference::mma<Row>(in, out); }, Row::name);
}

}  // namespace zellige
