// Thread-block clusters: the rank of a block in its cluster, the cluster's barrier, and pointers into the
// shared memory of the cluster's other blocks (distributed shared memory).
//
//   unsigned rank = cluster_ctarank();
//   cluster_sync();                                       // the shared memory of all blocks is ready
//   float x = mapa(partial, rank ^ 1)[threadIdx.x];       // the other block's element, in a cluster of two
//   cluster_sync();                                       // no block exits while others still read
//
// The kernel has __cluster_dims__(x, y, z), or the launch sets the cluster size.
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Returns this block's rank in its cluster, 0 to cluster_nctarank() - 1, with x varying fastest.
ZELLIGE_CALL unsigned cluster_ctarank() {
#if defined(ZELLIGE_EMULATE)
  return emulate::self().cluster_rank;
#else
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
#endif
}
/// Returns the number of blocks in the cluster.
ZELLIGE_CALL unsigned cluster_nctarank() {
#if defined(ZELLIGE_EMULATE)
  const emulate::dim3& c = emulate::self().cluster_size;
  return c.x * c.y * c.z;
#else
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r));
  return r;
#endif
}

struct ClusterIndex {
  unsigned x, y, z;
};
/// Returns the three-dimensional index of this block in its cluster.
ZELLIGE_CALL ClusterIndex cluster_ctaid() {
#if defined(ZELLIGE_EMULATE)
  const emulate::Thread& t = emulate::self();
  return {t.block.x % t.cluster_size.x, t.block.y % t.cluster_size.y, t.block.z % t.cluster_size.z};
#else
  ClusterIndex r;
  asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(r.x));
  asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(r.y));
  asm volatile("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(r.z));
  return r;
#endif
}

/// Arrives at the cluster's barrier; every thread of the cluster must call it. Earlier writes of this thread
/// are visible to threads that return from the matching cluster_wait().
ZELLIGE_CALL void cluster_arrive() {
#if defined(ZELLIGE_EMULATE)
  emulate::cluster_arrive(true);
#else
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
/// Arrives at the cluster's barrier without making this thread's writes visible to other threads, unlike
/// cluster_arrive(). This suffices after fence_mbarrier_init(), which itself is a release.
ZELLIGE_CALL void cluster_arrive_relaxed() {
#if defined(ZELLIGE_EMULATE)
  emulate::cluster_arrive(false);
#else
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
/// Waits until all threads of the cluster have arrived at the cluster's barrier.
ZELLIGE_CALL void cluster_wait() {
#if defined(ZELLIGE_EMULATE)
  emulate::cluster_wait();
#else
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
/// Waits until all threads of the cluster have called this function: cluster_arrive(), then cluster_wait().
ZELLIGE_CALL void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

/// Returns the pointer that corresponds to `pointer` in the shared memory of block `rank` of the cluster: the
/// same offset from the start of that block's shared memory. Ordinary loads and stores may use the returned
/// pointer.
#if defined(ZELLIGE_EMULATE)
template <class T>
ZELLIGE_CALL smem<T> mapa(emulate::pointer<T> pointer, unsigned rank) {
  return emulate::in_block(pointer, rank);
}
#else
template <class T>
ZELLIGE_CALL T* mapa(T* pointer, unsigned rank) {
  T* mapped;
  asm("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(pointer), "r"(rank));
  return mapped;
}
/// Returns mapa(pointer, rank) as a 32-bit address in the .shared::cluster window, for PTX operands.
ZELLIGE_CALL uint32_t cluster_address(const void* pointer, unsigned rank) {
  uint32_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(smem_address(pointer)), "r"(rank));
  return mapped;
}
#endif

}  // namespace zellige
