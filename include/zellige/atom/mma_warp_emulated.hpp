// The instructions of mma_warp.hpp on the emulator: the warp meets and the reference body runs once.
#pragma once

#include <zellige/atom/mma_warp_kind.hpp>
#include <zellige/emulate/device.hpp>

namespace zellige {

template <int M, int N, int K, class D, int ND, class AB, int NA, int NB>
ZELLIGE_CALL void mma_warp_emulated(reference::WarpMmaKind kind, D (&d)[ND], const AB (&a)[NA], const AB (&b)[NB],
                                    const char* name) {
  struct In {
    AB a[NA], b[NB];
    D c[ND];
  };
  struct Out {
    D d[ND];
  };
  In mine;
  __builtin_memcpy(mine.a, a, sizeof(mine.a));
  __builtin_memcpy(mine.b, b, sizeof(mine.b));
  __builtin_memcpy(mine.c, d, sizeof(mine.c));
  const auto compute = [kind](const In* in, Out* out) {
    emulate::count(emulate::Counter::mma);
    const void *pa[32], *pb[32], *pc[32];
    void* pd[32];
    for (int t = 0; t < 32; ++t) pa[t] = in[t].a, pb[t] = in[t].b, pc[t] = in[t].c, pd[t] = out[t].d;
    reference::warp_mma<M, N, K>(kind, pa, pb, pc, pd);
  };
  const Out result = emulate::meet<In, Out>(mine, compute, name);
  __builtin_memcpy(d, result.d, sizeof(result.d));
}

}  // namespace zellige
