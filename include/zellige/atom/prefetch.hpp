// Prefetches global memory into a cache. A prefetch is a hint: it has no completion, and nothing waits for it.
//
//   prefetch_l2(weights + i);                    // the cache line at one address
//   bulk_prefetch_l2(weights, 16384);            // 16384 bytes; multiples of 16 bytes only
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Prefetches the cache line at `address` into L1 and L2.
ZELLIGE_CALL void prefetch_l1(any_pointer address) {
#if defined(ZELLIGE_EMULATE)
  emulate::prefetch(address, 1, 1);
#else
  asm volatile("prefetch.global.L1 [%0];" ::"l"(global_address(address)));
#endif
}
/// Prefetches the cache line at `address` into L2.
ZELLIGE_CALL void prefetch_l2(any_pointer address) {
#if defined(ZELLIGE_EMULATE)
  emulate::prefetch(address, 1, 1);
#else
  asm volatile("prefetch.global.L2 [%0];" ::"l"(global_address(address)));
#endif
}
/// Prefetches `bytes` bytes from `address` on into L2. `bytes` and `address` must be multiples of 16.
/// Requires SM90.
ZELLIGE_CALL void bulk_prefetch_l2(any_pointer address, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  emulate::prefetch(address, bytes, 16);
#else
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(global_address(address)), "r"(bytes));
#endif
}

}  // namespace zellige
