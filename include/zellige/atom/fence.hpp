// Fences: order this thread's earlier accesses before its later ones, as observed by others.
//
//   tile[i] = x;               // ordinary writes to shared memory ...
//   fence_proxy_async();       // ... made visible to TMA and WGMMA, by every thread that wrote,
//   __syncthreads();           // then a barrier, and one thread stores:
//   tma_store_2d(map, tile, 0, 0);
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Between ordinary accesses and those of the asynchronous proxy: TMA, bulk copies, WGMMA operands in shared
/// memory. All spaces.
ZELLIGE_CALL void fence_proxy_async() {
#if defined(ZELLIGE_EMULATE)
  emulate::fence_proxy_async();
#else
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}
/// The same for shared memory only, which is cheaper.
ZELLIGE_CALL void fence_proxy_async_shared() {
#if defined(ZELLIGE_EMULATE)
  emulate::fence_proxy_async();
#else
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
/// The same for global memory only.
ZELLIGE_CALL void fence_proxy_async_global() {
#if defined(ZELLIGE_EMULATE)
  emulate::fence_proxy_async();
#else
  asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
}
/// After mbarrier_init, before the barrier of the block or cluster that lets others use it.
ZELLIGE_CALL void fence_mbarrier_init() {
#if defined(ZELLIGE_EMULATE)
  emulate::fence_mbarrier_init();
#else
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
/// Acquire and release among the threads of the block, the cluster, the device.
ZELLIGE_CALL void fence_block() {
#if !defined(ZELLIGE_EMULATE)
  asm volatile("fence.acq_rel.cta;" ::: "memory");
#endif
}
ZELLIGE_CALL void fence_cluster() {
#if !defined(ZELLIGE_EMULATE)
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
#endif
}
ZELLIGE_CALL void fence_device() {
#if !defined(ZELLIGE_EMULATE)
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

}  // namespace zellige
