// mbarrier: an 8-byte barrier in shared memory that counts arrivals and bytes. A phase completes after the
// number of arrivals set by `mbarrier_init` and all announced bytes; then the next one begins.
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
// Waits identify a phase by its parity: a new barrier is in phase 0, and waiting for parity 1 returns
// immediately.
#pragma once

#include <zellige/atom/cluster.hpp>

namespace zellige {

/// Called by one thread; others may use it after fence_mbarrier_init and a barrier. 1 <= count < 2^20.
ZELLIGE_CALL void mbarrier_init(smem<uint64_t> barrier, unsigned count) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_init(barrier, count);
#else
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(count) : "memory");
#endif
}
/// Required before its memory is reused.
ZELLIGE_CALL void mbarrier_inval(smem<uint64_t> barrier) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_inval(barrier);
#else
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(smem_address(barrier)) : "memory");
#endif
}

/// `count` arrivals.
ZELLIGE_CALL void mbarrier_arrive(smem<uint64_t> barrier, unsigned count = 1) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, emulate::own_block, count, 0);
#else
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(barrier)), "r"(count)
               : "memory");
#endif
}
/// One arrival, and `bytes` more expected bytes in this phase.
ZELLIGE_CALL void mbarrier_arrive_expect_tx(smem<uint64_t> barrier, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, emulate::own_block, 1, bytes);
#else
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(barrier)),
               "r"(bytes)
               : "memory");
#endif
}
/// Bytes only, no arrival.
ZELLIGE_CALL void mbarrier_expect_tx(smem<uint64_t> barrier, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, emulate::own_block, 0, bytes);
#else
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(barrier)),
               "r"(bytes)
               : "memory");
#endif
}
/// Completes `bytes` bytes in place of a copy that is not issued.
ZELLIGE_CALL void mbarrier_complete_tx(smem<uint64_t> barrier, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_complete_tx(barrier, bytes);
#else
  asm volatile("mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%0], %1;" ::"r"(smem_address(barrier)),
               "r"(bytes)
               : "memory");
#endif
}

/// The same on the mbarrier at this offset in the shared memory of the cluster's block `rank`, with release
/// at cluster scope.
ZELLIGE_CALL void mbarrier_arrive_remote(smem<uint64_t> barrier, unsigned rank, unsigned count = 1) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, rank, count, 0);
#else
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(
                   cluster_address(barrier, rank)),
               "r"(count)
               : "memory");
#endif
}
/// The same without a release. Sufficient to release a stage: this thread's reads of it have completed
/// (wgmma_wait, or in registers), and it has no writes to publish. A release at cluster scope costs a memory
/// fence in each k step: 30% of a clustered GEMM's time on an H200.
ZELLIGE_CALL void mbarrier_arrive_remote_relaxed(smem<uint64_t> barrier, unsigned rank, unsigned count = 1) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_arrive(barrier, rank, count, 0);
#else
  asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(
                   cluster_address(barrier, rank)),
               "r"(count)
               : "memory");
#endif
}
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

/// True if the phase of that parity has completed; does not wait.
ZELLIGE_CALL bool mbarrier_test_wait(smem<uint64_t> barrier, unsigned parity) {
#if defined(ZELLIGE_EMULATE)
  return emulate::mbarrier_test_wait(barrier, parity);
#else
  uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(smem_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
#endif
}
/// The same, but the hardware may suspend the thread for a while before it returns false.
ZELLIGE_CALL bool mbarrier_try_wait(smem<uint64_t> barrier, unsigned parity) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_wait(barrier, parity);
  return true;
#else
  uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(smem_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
#endif
}
/// Waits until the phase of that parity has completed.
ZELLIGE_CALL void mbarrier_wait(smem<uint64_t> barrier, unsigned parity) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_wait(barrier, parity);
#else
  asm volatile(
      "{\n.reg .pred p;\nwaiting:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra waiting;\n}" ::"r"(
          smem_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}
/// The same with acquire at cluster scope: required if other blocks of the cluster arrive.
ZELLIGE_CALL void mbarrier_wait_cluster(smem<uint64_t> barrier, unsigned parity) {
#if defined(ZELLIGE_EMULATE)
  emulate::mbarrier_wait(barrier, parity);
#else
  asm volatile(
      "{\n.reg .pred p;\nwaiting:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra waiting;\n}" ::"r"(
          smem_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}

/// Arrives when all cp.async that this thread has issued so far have completed; the count of `mbarrier_init`
/// includes this arrival.
ZELLIGE_CALL void cp_async_mbarrier_arrive(smem<uint64_t> barrier) {
#if defined(ZELLIGE_EMULATE)
  emulate::cp_async_mbarrier_arrive(barrier);
#else
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(smem_address(barrier))
               : "memory");
#endif
}

}  // namespace zellige
