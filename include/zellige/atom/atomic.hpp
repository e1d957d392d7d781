// atomic_increment: a counter in global memory of the blocks that have arrived.
//
//   // every thread: stores its part to global memory
//   __syncthreads();
//   if (threadIdx.x == 0) arrived = atomic_increment(counter, blocks - 1);
//   ... arrived goes to the other threads through shared memory and a barrier ...
//   if (arrived == blocks - 1) { all parts are visible; the counter is 0 again }
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Increments and returns the previous value; wraps from `last` to 0. Releases the writes of this thread and,
/// after a barrier, of its block, and acquires those released by earlier increments.
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
