// atomic_increment: an atomic counter in global memory, by which the last of several thread blocks to finish
// detects that it is the last.
//
//   // every thread: stores its partial result to global memory
//   __syncthreads();
//   if (threadIdx.x == 0) arrived = atomic_increment(counter, blocks - 1);
//   ... arrived goes to the other threads through shared memory and a barrier ...
//   if (arrived == blocks - 1) { all partial results are visible; the counter is 0 again }
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Increments *counter and returns its previous value; sets it to 0 if it was `last` or more (atom.inc). Memory
/// order is acquire-release at GPU scope. Writes by this thread, and by its block before a barrier that
/// precedes this call, are visible to threads that increment the same counter later.
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
