// Wraps PTX's named barriers (bar.sync, bar.arrive), which synchronise a subset of a block's threads. A block has 16;
// number 0 is __syncthreads'.
//
//   named_barrier_sync(1 + warpgroup, 128);      // the threads of one warpgroup
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Arrives at barrier `id` and waits until `threads` threads have arrived, by named_barrier_sync or
/// named_barrier_arrive. `threads` is a multiple of 32, and all participants pass the same number.
ZELLIGE_CALL void named_barrier_sync(unsigned id, unsigned threads) {
#if defined(ZELLIGE_EMULATE)
  emulate::bar_sync(id, threads);
#else
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
#endif
}
/// Arrives at barrier `id` without waiting. `threads` is the number of threads that take part in the barrier, by
/// named_barrier_sync or named_barrier_arrive, a multiple of 32.
ZELLIGE_CALL void named_barrier_arrive(unsigned id, unsigned threads) {
#if defined(ZELLIGE_EMULATE)
  emulate::bar_arrive(id, threads);
#else
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
#endif
}

}  // namespace zellige
