// Named barriers: 16 per block, number 0 being __syncthreads. `threads` counts all participants, those that
// wait and those that only arrive, and is a multiple of 32.
//
//   named_barrier_sync(1 + warpgroup, 128);      // the threads of one warpgroup
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

ZELLIGE_CALL void named_barrier_sync(unsigned id, unsigned threads) {
#if defined(ZELLIGE_EMULATE)
  emulate::bar_sync(id, threads);
#else
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#endif
}
/// Arrives without waiting.
ZELLIGE_CALL void named_barrier_arrive(unsigned id, unsigned threads) {
#if defined(ZELLIGE_EMULATE)
  emulate::bar_arrive(id, threads);
#else
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
#endif
}

}  // namespace zellige
