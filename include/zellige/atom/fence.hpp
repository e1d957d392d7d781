// Memory fences: order this thread's earlier memory accesses before its later ones, as seen by TMA and wgmma or
// by the other threads of the block, the cluster or the GPU.
//
//   tile[i] = x;               // ordinary writes to shared memory ...
//   fence_proxy_async();       // ... made visible to TMA and WGMMA, by every thread that wrote,
//   __syncthreads();           // then a barrier, and one thread stores:
//   tma_store_2d(map, tile, 0, 0);
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Orders this thread's earlier ordinary accesses before later accesses by the asynchronous proxy (TMA, bulk
/// copies, wgmma operands in shared memory), and vice versa, in global and in shared memory.
ZELLIGE_CALL void fence_proxy_async() {
#if defined(ZELLIGE_EMULATE)
  emulate::fence_proxy(emulate::ProxyFence::both);
#else
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}
/// Like fence_proxy_async(), but orders accesses to shared memory only, which is cheaper.
ZELLIGE_CALL void fence_proxy_async_shared() {
#if defined(ZELLIGE_EMULATE)
  emulate::fence_proxy(emulate::ProxyFence::shared);
#else
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
/// Like fence_proxy_async(), but orders accesses to global memory only.
ZELLIGE_CALL void fence_proxy_async_global() {
#if defined(ZELLIGE_EMULATE)
  emulate::fence_proxy(emulate::ProxyFence::global);
#else
  asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
}
/// Makes this thread's earlier mbarrier_init calls visible to the cluster and to TMA. Other threads may use
/// the mbarriers after a barrier of the block or cluster that follows this call.
ZELLIGE_CALL void fence_mbarrier_init() {
#if defined(ZELLIGE_EMULATE)
  emulate::fence_proxy(emulate::ProxyFence::init);
#else
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
/// Acquire-release fence among the threads of the block.
ZELLIGE_CALL void fence_block() {
#if !defined(ZELLIGE_EMULATE)
  asm volatile("fence.acq_rel.cta;" ::: "memory");
#endif
}
/// Acquire-release fence among the threads of the cluster.
ZELLIGE_CALL void fence_cluster() {
#if !defined(ZELLIGE_EMULATE)
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
#endif
}
/// Acquire-release fence among all threads of the GPU.
ZELLIGE_CALL void fence_device() {
#if !defined(ZELLIGE_EMULATE)
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

}  // namespace zellige
