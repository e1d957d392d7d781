// mma.sync on the emulator: the warp meets and the reference body runs once for its 32 threads.
#pragma once

#include <zellige/atom/mma_reference.hpp>
#include <zellige/emulate/device.hpp>

namespace zellige {

template <class Row>
ZELLIGE_CALL void mma_emulated(typename Row::DRegisters& d, const typename Row::ARegisters& a,
                               const typename Row::BRegisters& b) {
  using In = reference::MmaOperands<Row>;
  using Out = reference::MmaResult<Row>;
  In mine;
  __builtin_memcpy(mine.a, a, sizeof(mine.a));
  __builtin_memcpy(mine.b, b, sizeof(mine.b));
  __builtin_memcpy(mine.c, d, sizeof(mine.c));
  const auto compute = [](const In* in, Out* out) {
    emulate::count(emulate::Counter::mma);
    reference::mma<Row>(in, out);
  };
  const Out result = emulate::meet<In, Out>(mine, compute, Row::name);
  __builtin_memcpy(d, result.d, sizeof(result.d));
}

}  // namespace zellige
