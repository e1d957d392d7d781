// Counters in global memory that blocks count themselves by.
//
//   // every thread: its part to global memory
//   __syncthreads();
//   if (threadIdx.x == 0) arrived = atomic_increment(counter, blocks - 1);
//   ... arrived goes to the other threads through shared memory and a barrier ...
//   if (arrived == blocks - 1) { all parts are visible; the counter is 0 again }
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Counts up and returns the value before; after `last` comes 0. Releases what this thread and, behind a
/// barrier, its block have written, and acquires what the blocks before it released.
ZELLIGE_CALL unsigned atomic_increment(gmem<unsigned> counter, unsigned last) {
#if defined(ZELLIGE_EMULATE)
  return emulate::atomic_increment(counter, last);
#else
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(global_address(counter)), "r"(last)
               : "memory");
  return before;
#endif
}

}  // namespace zellige
