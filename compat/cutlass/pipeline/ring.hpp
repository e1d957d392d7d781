// Common base class of the SM90 pipelines: the full and the empty barrier of each stage, and checks that
// threads act in their role.
#pragma once
#include <cutlass/arch/barrier.h>

#include <cutlass/pipeline/pipeline_state.hpp>

#if defined(__CUDACC__)
#include <zellige/block/ring.hpp>

namespace cutlass::detail {

enum class ThreadCategory { NonParticipant, Producer, Consumer, ProducerConsumer };

/// A ring of `stages` shared-memory stages with barriers of types Full and Empty.
template <int stages, class Full, class Empty>
class PipelineRing {
 public:
  static constexpr uint32_t Stages = uint32_t(stages);
  using FullBarrier = Full;
  using EmptyBarrier = Empty;
  using ProducerBarrierType = typename Full::ValueType;
  using ConsumerBarrierType = typename Empty::ValueType;
  using PipelineState = cutlass::PipelineState<Stages>;
  using ThreadCategory = detail::ThreadCategory;
  struct SharedStorage {
    FullBarrier full_barrier_[Stages];
    EmptyBarrier empty_barrier_[Stages];
  };

  /// Tests, within a limited time, whether the stage is empty. The token lets producer_acquire skip a wait
  /// that has succeeded.
  CUTLASS_DEVICE ProducerToken producer_try_acquire(PipelineState s, uint32_t skip_wait = false) {
    check_producer();
    return status(skip_wait || empty(s).try_wait(s.phase()));
  }
  /// Tests, within a limited time, whether the stage is full. The token lets consumer_wait skip a wait that
  /// has succeeded.
  CUTLASS_DEVICE ConsumerToken consumer_try_wait(PipelineState s, uint32_t skip_wait = false) {
    check_consumer();
    return status(skip_wait || full(s).try_wait(s.phase()));
  }
  /// Tests whether the stage is full, without waiting. The token lets consumer_wait skip a wait that has
  /// succeeded.
  CUTLASS_DEVICE ConsumerToken consumer_test_wait(PipelineState s, uint32_t skip_wait = false) {
    check_consumer();
    return status(skip_wait || full(s).test_wait(s.phase()));
  }
  /// Waits until the stage is full, unless the token says that it is.
  CUTLASS_DEVICE void consumer_wait(PipelineState s, ConsumerToken token = BarrierStatus::WaitAgain) {
    check_consumer();
    if (token == BarrierStatus::WaitAgain) ring_.wait(s.stage());
  }
  /// Returns the barrier on which copies into the stage complete.
  CUTLASS_DEVICE ProducerBarrierType* producer_get_barrier(PipelineState s) {
    return producer_get_barrier(uint32_t(s.index()));
  }
  CUTLASS_DEVICE ProducerBarrierType* producer_get_barrier(uint32_t stage) {
    return reinterpret_cast<ProducerBarrierType*>(ring_.full + stage);
  }
  /// Waits until the consumers have released all stages. A producer calls it before it exits, so that no
  /// arrival at its barriers is pending.
  CUTLASS_DEVICE void producer_tail(PipelineState s) {
    check_producer();
    ring_.drain(s.stage());
  }

 protected:
  CUTLASS_DEVICE PipelineRing(SharedStorage& storage, ThreadCategory role)
      : ring_{reinterpret_cast<uint64_t*>(storage.full_barrier_), reinterpret_cast<uint64_t*>(storage.empty_barrier_)},
        role_(role) {}

  /// Initialises the barriers by the given warp; called by all threads of the block.
  CUTLASS_DEVICE static void init_barriers(SharedStorage& storage, int warp, uint32_t producers, uint32_t consumers) {
    if (canonical_warp_idx_sync() == warp)
      arch::detail::initialize_barrier_array_pair_aligned<Full*, Empty*, Stages>(
          &storage.full_barrier_[0], &storage.empty_barrier_[0], int(producers), int(consumers));
    arch::fence_barrier_init();
  }
  CUTLASS_DEVICE Full& full(PipelineState s) const { return reinterpret_cast<Full&>(*ring_.full_barrier(s.stage())); }
  CUTLASS_DEVICE Empty& empty(PipelineState s) const {
    return reinterpret_cast<Empty&>(*ring_.empty_barrier(s.stage()));
  }
  CUTLASS_DEVICE void wait_empty(PipelineState s, ProducerToken token) {
    check_producer();
    if (token == BarrierStatus::WaitAgain) ring_.wait_empty(s.stage());
  }
  CUTLASS_DEVICE void check_producer() const { check(ThreadCategory::Producer); }
  CUTLASS_DEVICE void check_consumer() const { check(ThreadCategory::Consumer); }
  // A trap and not an assert: the call in an assert would serialise the wgmma of surrounding loops.
  CUTLASS_DEVICE void check([[maybe_unused]] ThreadCategory needed) const {
#if !defined(NDEBUG)
    if (role_ != needed && role_ != ThreadCategory::ProducerConsumer) __trap();
#endif
  }
  /// Arrives at the barrier of the given block of the cluster. An arrival at the own block's barrier needs no
  /// release at cluster scope.
  template <class Barrier>
  CUTLASS_DEVICE static void arrive_at(Barrier& barrier, uint32_t block) {
    if (block == zellige::block_rank_in_cluster())
      barrier.arrive();
    else
      barrier.arrive(block);
  }
  CUTLASS_DEVICE static BarrierStatus status(bool done) {
    return done ? BarrierStatus::WaitDone : BarrierStatus::WaitAgain;
  }

  zellige::RingBarriers<stages> ring_;
  ThreadCategory role_;
};

}  // namespace cutlass::detail
#endif
