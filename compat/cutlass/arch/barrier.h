// CUTLASS's mbarriers and named barriers with their fences.
//
//   ClusterTransactionBarrier::init(&full, 1);  fence_barrier_init();  __syncthreads();
//   ClusterTransactionBarrier::arrive_and_expect_tx(&full, bytes);     one arrival, and the expected bytes
//   ClusterTransactionBarrier::wait(&full, phase);                     waits for the phase of that parity
//
// An mbarrier is 8 bytes of shared memory: an object of these types, or a uint64_t.
#pragma once
#if __has_include_next(<cutlass/arch/barrier.h>)
#include_next <cutlass/arch/barrier.h>
#else
#include <cutlass/arch/config.h>
#include <cutlass/cutlass.h>

#include <cute/arch/cluster_sm90.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/elect.hpp>
#include <zellige/atom/fence.hpp>
#include <zellige/atom/mbarrier.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/tcgen05.hpp>

namespace cutlass::arch {

namespace detail {
// Returns a barrier without const: CUTLASS's functions take barriers as const, since only the hardware
// changes them.
CUTLASS_DEVICE zellige::smem<uint64_t> changed(uint64_t const* at) {
#if defined(ZELLIGE_EMULATE)
  return zellige::emulate::known(const_cast<uint64_t*>(at));
#else
  return const_cast<uint64_t*>(at);
#endif
}
}  // namespace detail

/// Named barriers reserved for CUTLASS. A user's barrier 0 is the hardware's FirstUserBarrier.
enum class ReservedNamedBarriers {
  EpilogueBarrier = 1,
  TransposeBarrier = 2,
  TransformBarrier = 3,
  StreamkBarrier0 = 4,
  StreamkBarrier1 = 5,
  TmemAllocBarrier = 6,
  Sm120MainloopBarrier = 7,
  FirstUserBarrier = 8
};

/// A named barrier, one of the block's 16, on which `threads` threads (a multiple of 32) synchronise.
class NamedBarrier {
 public:
  static constexpr uint32_t ReservedNamedBarrierCount = uint32_t(ReservedNamedBarriers::FirstUserBarrier);
  static constexpr uint32_t HardwareMaxNumNamedBarriers = 16;

  CUTLASS_DEVICE NamedBarrier(uint32_t threads, uint32_t id = 0) : threads_(threads), id_(user(id)) {}
  CUTLASS_DEVICE NamedBarrier(uint32_t threads, ReservedNamedBarriers id) : threads_(threads), id_(uint32_t(id)) {}

  CUTLASS_DEVICE void arrive_and_wait() const { zellige::named_barrier_sync(id_, threads_); }
  CUTLASS_DEVICE void sync() const { zellige::named_barrier_sync(id_, threads_); }
  CUTLASS_DEVICE void arrive() const { zellige::named_barrier_arrive(id_, threads_); }
#if !defined(ZELLIGE_EMULATE)
  // Variants for warps whose threads have diverged.
  CUTLASS_DEVICE void arrive_and_wait_unaligned() const { __barrier_sync_count(id_, threads_); }
  CUTLASS_DEVICE void arrive_unaligned() const {
    asm volatile("barrier.arrive %0, %1;" ::"r"(id_), "r"(threads_) : "memory");
  }
#endif

  CUTLASS_DEVICE static void arrive_and_wait(uint32_t threads, uint32_t id) {
    zellige::named_barrier_sync(user(id), threads);
  }
  CUTLASS_DEVICE static void arrive_and_wait(uint32_t threads, ReservedNamedBarriers id) {
    zellige::named_barrier_sync(uint32_t(id), threads);
  }
  CUTLASS_DEVICE static void sync(uint32_t threads, uint32_t id) { arrive_and_wait(threads, id); }
  CUTLASS_DEVICE static void sync(uint32_t threads, ReservedNamedBarriers id) { arrive_and_wait(threads, id); }
  CUTLASS_DEVICE static void arrive(uint32_t threads, uint32_t id) { zellige::named_barrier_arrive(user(id), threads); }
  CUTLASS_DEVICE static void arrive(uint32_t threads, ReservedNamedBarriers id) {
    zellige::named_barrier_arrive(uint32_t(id), threads);
  }

 private:
  // Converts a user's number, 0 to 7, to the hardware's. Traps beyond that, unless NDEBUG is defined.
  CUTLASS_DEVICE static uint32_t user(uint32_t id) {
#if !defined(NDEBUG) && !defined(ZELLIGE_EMULATE)
    if (id + ReservedNamedBarrierCount >= HardwareMaxNumNamedBarriers) __trap();
#endif
    return id + ReservedNamedBarrierCount;
  }
  uint32_t const threads_, id_;
};

/// An mbarrier that counts arrivals of threads of this block or other blocks of the cluster.
struct ClusterBarrier {
  using ValueType = uint64_t;

  CUTLASS_DEVICE void init(uint32_t arrivals) const { init(&barrier_, arrivals); }
  /// True if the phase of the given parity has completed; false without a test if `ask` is 0.
  CUTLASS_DEVICE bool test_wait(uint32_t phase, uint32_t ask = true) const { return test_wait(&barrier_, phase, ask); }
  /// Waits for a limited time; true if the phase of the given parity has completed.
  CUTLASS_DEVICE bool try_wait(uint32_t phase) const { return try_wait(&barrier_, phase); }
  CUTLASS_DEVICE void wait(uint32_t phase) const { wait(&barrier_, phase); }
  CUTLASS_DEVICE void arrive() const { arrive(&barrier_); }
  /// Arrives at the barrier at this address in block `cta` of the cluster, unless `pred` is 0.
  CUTLASS_DEVICE void arrive(uint32_t cta, uint32_t pred = true) const { arrive(&barrier_, cta, pred); }

  /// Initialises the barrier for a number of arrivals per phase, at least 1.
  CUTLASS_DEVICE static void init(ValueType const* at, uint32_t arrivals) {
    assert(arrivals != 0 && "ClusterBarrier::init: a phase of no arrivals never ends");
    zellige::mbarrier_init(pointer(at), arrivals);
  }
  CUTLASS_DEVICE static bool test_wait(ValueType const* at, uint32_t phase, uint32_t ask = true) {
    return ask && zellige::mbarrier_test_wait(pointer(at), phase);
  }
  CUTLASS_DEVICE static bool try_wait(ValueType const* at, uint32_t phase) {
    return zellige::mbarrier_try_wait(pointer(at), phase);
  }
  CUTLASS_DEVICE static void wait(ValueType const* at, uint32_t phase) { zellige::mbarrier_wait(pointer(at), phase); }
  CUTLASS_DEVICE static void arrive(ValueType const* at) { zellige::mbarrier_arrive(pointer(at)); }
  CUTLASS_DEVICE static void arrive(ValueType const* at, uint32_t cta, uint32_t pred) {
    if (pred) zellige::mbarrier_arrive_remote(pointer(at), cta);
  }
  CUTLASS_DEVICE static void invalidate(ValueType const* at) { zellige::mbarrier_inval(pointer(at)); }

 protected:
  CUTLASS_DEVICE static zellige::smem<uint64_t> pointer(ValueType const* at) { return detail::changed(at); }
  ValueType barrier_;
};

/// An mbarrier that also counts the bytes that asynchronous copies transfer.
struct ClusterTransactionBarrier : ClusterBarrier {
  CUTLASS_DEVICE void arrive_and_expect_tx(uint32_t bytes) const { arrive_and_expect_tx(&barrier_, bytes); }
  CUTLASS_DEVICE void arrive_and_expect_tx(uint32_t bytes, uint32_t cta, uint32_t pred = 1) const {
    arrive_and_expect_tx(&barrier_, bytes, cta, pred);
  }
  CUTLASS_DEVICE void expect_transaction(uint32_t bytes) const { expect_transaction(&barrier_, bytes); }
  CUTLASS_DEVICE void complete_transaction(uint32_t bytes, uint32_t pred = 1) const {
    if (pred) zellige::mbarrier_complete_tx(pointer(&barrier_), bytes);
  }
#if !defined(ZELLIGE_EMULATE)
  CUTLASS_DEVICE void complete_transaction(uint32_t cta, uint32_t bytes, uint32_t pred) const {
    complete_transaction(&barrier_, cta, bytes, pred);
  }
#endif

  CUTLASS_DEVICE static void arrive_and_expect_tx(ValueType const* at, uint32_t bytes) {
    zellige::mbarrier_arrive_expect_tx(pointer(at), bytes);
  }
  CUTLASS_DEVICE static void arrive_and_expect_tx(ValueType const* at, uint32_t bytes, uint32_t cta, uint32_t pred) {
    if (pred) zellige::mbarrier_arrive_expect_tx_remote(pointer(at), cta, bytes);
  }
  CUTLASS_DEVICE static void expect_transaction(ValueType const* at, uint32_t bytes) {
    zellige::mbarrier_expect_tx(pointer(at), bytes);
  }
#if !defined(ZELLIGE_EMULATE)
  /// Completes bytes on the barrier in block `cta`, in place of a copy that is not issued.
  CUTLASS_DEVICE static void complete_transaction(ValueType const* at, uint32_t cta, uint32_t bytes,
                                                  uint32_t pred = 1) {
    if (pred)
      asm volatile(
          "mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%0], %1;" ::"r"(zellige::cluster_address(at, cta)),
          "r"(bytes)
          : "memory");
  }
#endif

  // The names of these functions in CUTLASS 3.0 to 3.3.
  CUTLASS_DEVICE void arrive_and_reset_bytes(uint32_t bytes) const { arrive_and_expect_tx(bytes); }
  CUTLASS_DEVICE void arrive_and_reset_bytes(uint32_t bytes, uint32_t cta) const { arrive_and_expect_tx(bytes, cta); }
  CUTLASS_DEVICE static void arrive_and_reset_bytes(ValueType const* at, uint32_t bytes) {
    arrive_and_expect_tx(at, bytes);
  }
  CUTLASS_DEVICE static void arrive_and_reset_bytes(ValueType const* at, uint32_t bytes, uint32_t cta, uint32_t pred) {
    arrive_and_expect_tx(at, bytes, cta, pred);
  }
  CUTLASS_DEVICE void reset_bytes(uint32_t bytes) const { expect_transaction(bytes); }
  CUTLASS_DEVICE static void reset_bytes(ValueType const* at, uint32_t bytes) { expect_transaction(at, bytes); }
  CUTLASS_DEVICE void commit(uint32_t bytes, uint32_t pred = 1) const { complete_transaction(bytes, pred); }
#if !defined(ZELLIGE_EMULATE)
  CUTLASS_DEVICE void commit(uint32_t cta, uint32_t bytes, uint32_t pred) const {
    complete_transaction(cta, bytes, pred);
  }
#endif
};
static_assert(sizeof(ClusterBarrier) == 8 && sizeof(ClusterTransactionBarrier) == 8);

/// Makes initialised barriers visible to the cluster and to asynchronous copies. Call it after the inits and
/// before the block or cluster synchronises.
CUTLASS_DEVICE void fence_barrier_init() { zellige::fence_mbarrier_init(); }
/// Orders this thread's ordinary accesses to shared memory before accesses of TMA and wgmma.
CUTLASS_DEVICE void fence_view_async_shared() { zellige::fence_proxy_async_shared(); }
/// Arrives at the barrier when this thread's earlier cp.async have completed. The arrival is one of those for
/// which the barrier was initialised.
CUTLASS_DEVICE void cpasync_barrier_arrive_noinc(uint64_t const* at) {
  zellige::cp_async_mbarrier_arrive(detail::changed(at));
}
#if !defined(ZELLIGE_EMULATE)
/// Arrives at the barrier when this thread's earlier cp.async have completed, and adds one to the arrivals
/// that the current phase expects.
CUTLASS_DEVICE void cpasync_barrier_arrive(uint64_t const* at) {
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(zellige::smem_address(at)) : "memory");
}
#endif

namespace detail {
// Initialises an array of barriers; called by one thread. The functions ..._aligned are called by a whole
// warp and elect a thread. T is the type of barriers that are passed as uint64_t*.
template <class T, uint32_t stages>
CUTLASS_DEVICE void initialize_barrier_array(T at, int arrivals) {
  CUTLASS_PRAGMA_UNROLL
  for (uint32_t i = 0; i < stages; ++i) at[i].init(uint32_t(arrivals));
}
template <class T, uint32_t stages>
CUTLASS_DEVICE void initialize_barrier_array(uint64_t* at, int arrivals) {
  CUTLASS_PRAGMA_UNROLL
  for (uint32_t i = 0; i < stages; ++i) T::init(at + i, uint32_t(arrivals));
}
template <class Full, class Empty, uint32_t stages>
CUTLASS_DEVICE void initialize_barrier_array_pair(Full full, Empty empty, int full_arrivals, int empty_arrivals) {
  initialize_barrier_array<Full, stages>(full, full_arrivals);
  initialize_barrier_array<Empty, stages>(empty, empty_arrivals);
}
template <class Full, class Empty, uint32_t stages>
CUTLASS_DEVICE void initialize_barrier_array_pair(uint64_t* full, uint64_t* empty, int full_arrivals,
                                                  int empty_arrivals) {
  initialize_barrier_array<Full, stages>(full, full_arrivals);
  initialize_barrier_array<Empty, stages>(empty, empty_arrivals);
}
template <class T, uint32_t stages, class P>
CUTLASS_DEVICE void initialize_barrier_array_aligned(P at, int arrivals) {
  if (zellige::elect_one()) initialize_barrier_array<T, stages>(at, arrivals);
}
template <class Full, class Empty, uint32_t stages, class PF, class PE>
CUTLASS_DEVICE void initialize_barrier_array_pair_aligned(PF full, PE empty, int full_arrivals, int empty_arrivals) {
  if (zellige::elect_one())
    initialize_barrier_array_pair<Full, Empty, stages>(full, empty, full_arrivals, empty_arrivals);
}
}  // namespace detail

// tcgen05.commit: each arrives at the mbarrier when the products before it are complete. One thread calls it; these
// functions elect it, so that all threads of a warp may.
CUTLASS_DEVICE void umma_arrive(uint64_t const* barrier) {
  if (zellige::elect_one()) zellige::tcgen05_commit(barrier);
}
CUTLASS_DEVICE void umma_arrive_2x1SM_sm0(uint64_t const* barrier) {
  if (zellige::elect_one()) zellige::tcgen05_commit_pair(barrier);
}
CUTLASS_DEVICE void umma_arrive_multicast(uint64_t const* barrier, uint16_t ctas) {
  if (zellige::elect_one()) zellige::tcgen05_commit_multicast(barrier, ctas);
}
CUTLASS_DEVICE void umma_arrive_multicast_2x1SM(uint64_t const* barrier, uint16_t ctas) {
  if (zellige::elect_one()) zellige::tcgen05_commit_multicast_pair(barrier, ctas);
}
/// Waits for this thread's tcgen05.ld or tcgen05.st. What follows, for other threads too, is left to the compiler to keep after it.
CUTLASS_DEVICE void fence_view_async_tmem_load() {
  zellige::tmem_load_wait();
#if defined(ZELLIGE_EMULATE)
  zellige::emulate::tcgen05_leave_fences();
#endif
}
CUTLASS_DEVICE void fence_view_async_tmem_store() {
  zellige::tmem_store_wait();
#if defined(ZELLIGE_EMULATE)
  zellige::emulate::tcgen05_leave_fences();
#endif
}

}  // namespace cutlass::arch
#endif
#endif
