// Prefetches global memory into the L2: a hint, without completion or waiting.
//
//   prefetch_l2(weights + i);                    // the line of one address
//   bulk_prefetch_l2(weights, 16384);            // size and alignment: multiples of 16 bytes
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

ZELLIGE_CALL void prefetch_l1(any_pointer address) {
#if defined(ZELLIGE_EMULATE)
  emulate::prefetch(address, 1, 1);
#else
  asm volatile("prefetch.global.L1 [%0];" ::"l"(global_address(address)));
#endif
}
ZELLIGE_CALL void prefetch_l2(any_pointer address) {
#if defined(ZELLIGE_EMULATE)
  emulate::prefetch(address, 1, 1);
#else
  asm volatile("prefetch.global.L2 [%0];" ::"l"(global_address(address)));
#endif
}
ZELLIGE_CALL void bulk_prefetch_l2(any_pointer address, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  emulate::prefetch(address, bytes, 16);
#else
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global_address(address)), "r"(bytes));
#endif
}

}  // namespace zellige
