// Implements the matrix instructions of SM120 on narrow floats on the emulator, as a warp collective: when all 32 threads
// have called it, the instruction's reference implementation computes all results once.
#pragma once

#include <zellige/atom/emulated_body.hpp>

namespace zellige {

/// Computes d += a b with instruction Op. e is the metadata of a sparse A; sfa and sfb are the scales.
template <class Op>
void narrow_mma_met(typename Op::DRegisters& d, typename Op::ARegisters const& a, typename Op::BRegisters const& b,
                    uint32_t e, uint32_t sfa, uint32_t sfb) {
  // The body takes metadata and scales as further words of A and B.
  struct In {
    uint32_t a[6], b[Op::words_of_b + 1];
    typename Op::DRegisters c;
  };
  struct Out {
    typename Op::DRegisters d;
  };
  emulate::look_for_unwritten<Op::half_sums ? 2 : 4>(d, sizeof(In::c), emulate::Use::accumulates);
  In mine;
  __builtin_memcpy(mine.a, a, sizeof(a));
  __builtin_memcpy(mine.b, b, sizeof(b));
  __builtin_memcpy(mine.c, d, sizeof(mine.c));
  mine.a[4] = Op::sparse ? e : sfa;
  mine.a[5] = sfa;
  mine.b[Op::words_of_b] = sfb;
  const auto compute = [](const In* in, Out* out) {
    emulate::count(emulate::Counter::mma);
    run_body<Op::name>(reference::WarpRegisters(in, out));
  };
  const Out result = emulate::meet<In, Out>(mine, compute, Op::name);
  __builtin_memcpy(d, result.d, sizeof(result.d));
}

}  // namespace zellige
