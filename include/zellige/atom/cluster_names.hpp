// Clusters, barriers and thread election under CuTe's names. Barriers are passed as the 8 bytes of shared
// memory themselves, or as a pointer to them.
//
//   if (elect_one_sync()) { initialize_barrier(full, 1); }
//   cluster_sync();
//   set_barrier_transaction_bytes(full, bytes);
//   copy(tma.with(full), ...);
//   wait_barrier(full, 0);
#pragma once

#include <zellige/atom/elect.hpp>
#include <zellige/atom/tma_call.hpp>

namespace zellige {

ZELLIGE_CALL uint32_t elect_one_sync() { return elect_one(); }

// Three numbers, as in CUDA.
#if defined(ZELLIGE_EMULATE)
using ClusterExtents = emulate::dim3;
#else
using ClusterExtents = ::dim3;
#endif

ZELLIGE_CALL uint32_t block_rank_in_cluster() { return cluster_ctarank(); }
ZELLIGE_CALL ClusterExtents block_id_in_cluster() {
  ClusterIndex const c = cluster_ctaid();
  return {c.x, c.y, c.z};
}
/// The extents of the cluster, in blocks.
ZELLIGE_CALL ClusterExtents cluster_shape() {
#if defined(ZELLIGE_EMULATE)
  return emulate::self().cluster_size;
#else
  ClusterExtents r;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(r.x));
  asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(r.y));
  asm volatile("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(r.z));
  return r;
#endif
}
/// The number of clusters in the grid, and this cluster's index.
ZELLIGE_CALL ClusterExtents cluster_grid_dims() {
  ClusterExtents const c = cluster_shape();
  return {gridDim.x / c.x, gridDim.y / c.y, gridDim.z / c.z};
}
ZELLIGE_CALL ClusterExtents cluster_id_in_grid() {
  ClusterExtents const c = cluster_shape();
  return {blockIdx.x / c.x, blockIdx.y / c.y, blockIdx.z / c.z};
}

/// Called by one thread, before a fence and a barrier of all users.
template <class Barrier>
ZELLIGE_CALL void initialize_barrier(Barrier&& barrier, int thread_count = 1) {
  mbarrier_init(detail::barrier_pointer(barrier), unsigned(thread_count));
}
/// Arrives, and announces `bytes` bytes.
template <class Barrier>
ZELLIGE_CALL void set_barrier_transaction_bytes(Barrier&& barrier, uint32_t bytes) {
  mbarrier_arrive_expect_tx(detail::barrier_pointer(barrier), bytes);
}
template <class Barrier>
ZELLIGE_CALL void wait_barrier(Barrier&& barrier, int phase_bit) {
  mbarrier_wait(detail::barrier_pointer(barrier), unsigned(phase_bit));
}
template <class Barrier>
ZELLIGE_CALL void arrive_barrier(Barrier&& barrier) {
  mbarrier_arrive(detail::barrier_pointer(barrier));
}

}  // namespace zellige
