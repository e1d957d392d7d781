// Defines CuTe's names for clusters, mbarriers and thread election. An mbarrier is passed as the uint64_t in shared
// memory itself, or as a pointer to it.
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

/// Returns 1 in one thread of the warp and 0 in the others. All 32 threads must call it.
ZELLIGE_CALL uint32_t elect_one_sync() { return elect_one(); }

// The type of a cluster's extents or index: CUDA's dim3, or the emulator's type of that name.
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
/// Returns the extents of the cluster, in blocks.
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
/// Returns the extents of the grid, in clusters.
ZELLIGE_CALL ClusterExtents cluster_grid_dims() {
  ClusterExtents const c = cluster_shape();
  return {gridDim.x / c.x, gridDim.y / c.y, gridDim.z / c.z};
}
/// Returns the index of this cluster in the grid, in clusters.
ZELLIGE_CALL ClusterExtents cluster_id_in_grid() {
  ClusterExtents const c = cluster_shape();
  return {blockIdx.x / c.x, blockIdx.y / c.y, blockIdx.z / c.z};
}

/// Initializes the mbarrier for `thread_count` arrivals per phase. Called by one thread, followed by
/// fence_mbarrier_init() and a barrier of all threads that use the mbarrier.
template <class Barrier>
ZELLIGE_CALL void initialize_barrier(Barrier&& barrier, int thread_count = 1) {
  mbarrier_init(detail::barrier_pointer(barrier), unsigned(thread_count));
}
/// Adds `bytes` to the bytes that the mbarrier's current phase expects, and arrives once.
template <class Barrier>
ZELLIGE_CALL void set_barrier_transaction_bytes(Barrier&& barrier, uint32_t bytes) {
  mbarrier_arrive_expect_tx(detail::barrier_pointer(barrier), bytes);
}
/// Waits until the mbarrier's phase of parity `phase_bit` (0 or 1) has completed.
template <class Barrier>
ZELLIGE_CALL void wait_barrier(Barrier&& barrier, int phase_bit) {
  mbarrier_wait(detail::barrier_pointer(barrier), unsigned(phase_bit));
}
/// Arrives once at the mbarrier.
template <class Barrier>
ZELLIGE_CALL void arrive_barrier(Barrier&& barrier) {
  mbarrier_arrive(detail::barrier_pointer(barrier));
}

}  // namespace zellige
