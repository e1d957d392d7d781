// Wraps PTX's mbarrier: an 8-byte barrier in shared memory that counts arrivals of threads and bytes of asynchronous
// copies. A phase completes after the number of arrivals set by `mbarrier_init` and after all announced bytes; then
// the next phase begins.
//
//   const auto full = shared<uint64_t>("full", 0, stages);
//   if (threadIdx.x == 0) { mbarrier_init(full, 1); fence_mbarrier_init(); }
//   __syncthreads();
//   if (threadIdx.x == 0) {
//     mbarrier_arrive_expect_tx(full, bytes);           // the one arrival, and the expected bytes
//     tma_load_2d(tile, map, full, 0, 0);
//   }
//   mbarrier_wait(full, 0);                             // phase 0 has completed: the tile has arrived
//
// A wait identifies a phase by its parity, 0 or 1. A new barrier is in phase 0, and waiting for parity 1 returns
// immediately.
#pragma once

#include <zellige/atom/cluster.hpp>

namespace zellige {

/// Initialises the barrier to `count` arrivals per phase, 1 <= count < 2^20. Called by one thread, which then calls
/// fence_mbarrier_init. All threads synchronise before other threads use the barrier.
ZELLIGE_CALL void mbarrier_init(smem<uint64_t> barrier, unsigned count) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_init(barrier, count);
#else
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(count) : "memory");
#endif
}
/// Invalidates the barrier. Required before other data is stored in the barrier's 8 bytes.
ZELLIGE_CALL void mbarrier_inval(smem<uint64_t> barrier) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_inval(barrier);
#else
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(smem_address(barrier)) : "memory");
#endif
}

/// Arrives `count` times at the barrier, with release semantics in the block. Does not wait.
ZELLIGE_CALL void mbarrier_arrive(smem<uint64_t> barrier, unsigned count = 1) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, emulate::own_block, count, 0);
#else
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(barrier)), "r"(count) : "memory");
#endif
}
/// Announces `bytes` more bytes to the current phase and arrives once. The phase completes only after asynchronous
/// copies have written the announced bytes.
ZELLIGE_CALL void mbarrier_arrive_expect_tx(smem<uint64_t> barrier, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, emulate::own_block, 1, bytes);
#else
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(barrier)), "r"(bytes)
               : "memory");
#endif
}
/// Announces `bytes` more bytes to the current phase without an arrival.
ZELLIGE_CALL void mbarrier_expect_tx(smem<uint64_t> barrier, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, emulate::own_block, 0, bytes);
#else
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(bytes)
               : "memory");
#endif
}
/// Counts `bytes` announced bytes as written, for a copy that was announced but is not issued.
ZELLIGE_CALL void mbarrier_complete_tx(smem<uint64_t> barrier, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_complete_tx(barrier, bytes);
#else
  asm volatile("mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(bytes)
               : "memory");
#endif
}

/// Arrives `count` times at the mbarrier of another block of the cluster, with release semantics at cluster scope. The
/// barrier has the same shared-memory offset as `barrier`, in the block with cluster rank `rank`.
ZELLIGE_CALL void mbarrier_arrive_remote(smem<uint64_t> barrier, unsigned rank, unsigned count = 1) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, rank, count, 0);
#else
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(cluster_address(barrier, rank)),
               "r"(count)
               : "memory");
#endif
}
/// Arrives like mbarrier_arrive_remote, but with relaxed memory order: earlier writes of this thread are not released.
/// This suffices to free a stage of a shared-memory ring whose reads have completed (after wgmma_wait, or because the
/// values are in registers). A release at cluster scope adds a memory fence per K step, which took 30% of a clustered
/// GEMM's time on an H200.
ZELLIGE_CALL void mbarrier_arrive_remote_relaxed(smem<uint64_t> barrier, unsigned rank, unsigned count = 1) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, rank, count, 0);
#else
  asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(cluster_address(barrier, rank)),
               "r"(count)
               : "memory");
#endif
}
/// Announces `bytes` more bytes to the mbarrier of the cluster's block `rank` and arrives once, with release
/// semantics at cluster scope. The barrier has the same shared-memory offset as `barrier`.
ZELLIGE_CALL void mbarrier_arrive_expect_tx_remote(smem<uint64_t> barrier, unsigned rank, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, rank, 1, bytes);
#else
  asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(
                   cluster_address(barrier, rank)),
               "r"(bytes)
               : "memory");
#endif
}

/// Returns true if the barrier's phase of parity `parity` (0 or 1) has completed. Does not wait.
ZELLIGE_CALL bool mbarrier_test_wait(smem<uint64_t> barrier, unsigned parity) {
#if defined(ZELLIGE_EMULATE)
  return emulate::mbarrier_test_wait(barrier, parity);
#else
  uint32_t done;
  asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(smem_address(barrier)), "r"(parity)
               : "memory");
  return done != 0;
#endif
}
/// Returns true if the barrier's phase of parity `parity` (0 or 1) has completed. The hardware may suspend the thread
/// for a limited time before it returns false. The emulator waits until the phase completes and returns true.
ZELLIGE_CALL bool mbarrier_try_wait(smem<uint64_t> barrier, unsigned parity) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_wait(barrier, parity);
  return true;
#else
  uint32_t done;
  asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(smem_address(barrier)), "r"(parity)
               : "memory");
  return done != 0;
#endif
}
/// Waits until the barrier's phase of parity `parity` (0 or 1) has completed, with acquire semantics in the block. The
/// loop leaves by one branch and repeats by another, as CuTe's does, so that ptxas compiles both alike: with a single
/// conditional branch back, kernels were seen with 32 more registers, and with 14 fewer.
ZELLIGE_CALL void mbarrier_wait(smem<uint64_t> barrier, unsigned parity) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_wait(barrier, parity);
#else
  asm volatile(
      "{\n.reg .pred p;\nwaiting:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra waiting;\ndone:\n}" ::"r"(
          smem_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}
/// Waits until the barrier's phase of parity `parity` (0 or 1) has completed, with acquire semantics at cluster scope.
/// Required if other blocks of the cluster arrive at the barrier.
ZELLIGE_CALL void mbarrier_wait_cluster(smem<uint64_t> barrier, unsigned parity) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_wait(barrier, parity);
#else
  asm volatile(
      "{\n.reg .pred p;\nwaiting:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra waiting;\ndone:\n}" ::
          "r"(smem_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}

/// Arrives once at the barrier as soon as all cp.async copies that this thread has issued so far have completed. The
/// count passed to `mbarrier_init` must include this arrival (PTX: noinc). Does not wait.
ZELLIGE_CALL void cp_async_mbarrier_arrive(smem<uint64_t> barrier) {
#if defined(ZELLIGE_EMULATE)
  emulate::cp_async_mbarrier_arrive(barrier);
#else
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(smem_address(barrier)) : "memory");
#endif
}

}  // namespace zellige
