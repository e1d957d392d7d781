// CUTLASS's pipelines of shared-memory stages between producer and consumer threads: PipelineTmaAsync,
// PipelineTransactionAsync, PipelineAsync, PipelineTmaStore, OrderedSequenceBarrier.
//
//   using Pipeline = cutlass::PipelineTmaAsync<4>;
//   __shared__ Pipeline::SharedStorage storage;
//   Pipeline pipeline(storage, params, Shape<_2, _1, _1>{});          then a barrier of the cluster
//   the producer                                                      each consumer
//   auto write = cutlass::make_producer_start_state<Pipeline>();      Pipeline::PipelineState read;
//   pipeline.producer_acquire(write);                                 pipeline.consumer_wait(read);
//   copy(tma.with(*pipeline.producer_get_barrier(write)), ...);       ...
//   ++write;                                                          pipeline.consumer_release(read);
//                                                                     ++read;
//
// A stage has two barriers: a phase of `full` completes when the stage is filled, a phase of `empty` when all
// consumers have released it. Waits can be split: a try or test call returns a token, with which the blocking
// call skips a wait that has succeeded. Unless NDEBUG is defined, a thread that acts outside its role traps.
#pragma once
#if __has_include_next(<cutlass/pipeline/sm90_pipeline.hpp>)
#include_next <cutlass/pipeline/sm90_pipeline.hpp>
#else
#include <cutlass/arch/barrier.h>
#include <cutlass/cutlass.h>

#include <cute/arch/copy_sm90_tma.hpp>
#include <cute/container/array.hpp>
#include <cute/layout.hpp>
#include <cutlass/detail/dependent_false.hpp>
#include <cutlass/pipeline/ring.hpp>

#if defined(__CUDACC__)
namespace cutlass {

using namespace cute;

/// Pipeline filled by TMA: a full barrier counts one arrival per producer and the bytes. In a cluster, whose
/// blocks share loads along rows and columns, a stage is empty when the consumers of all blocks in this
/// block's row and column have released it.
template <int Stages_>
class PipelineTmaAsync : public detail::PipelineRing<Stages_, arch::ClusterTransactionBarrier, arch::ClusterBarrier> {
  using Ring = detail::PipelineRing<Stages_, arch::ClusterTransactionBarrier, arch::ClusterBarrier>;

 public:
  using typename Ring::PipelineState;
  using typename Ring::SharedStorage;
  using typename Ring::ThreadCategory;
  struct Params {
    uint32_t transaction_bytes = 0;
    ThreadCategory role = ThreadCategory::NonParticipant;
    uint32_t is_leader = 0;  // 1 in the producer thread that announces the bytes
    uint32_t num_consumers = 0;
    uint32_t num_producers = 1;
    int initializing_warp = 0;
  };

  template <class ClusterShape>
  CUTLASS_DEVICE static void init_barriers(SharedStorage& storage, Params params, ClusterShape const& cluster) {
    uint32_t consumers = params.num_consumers;
    if (int(size(cluster)) > 1) {
      uint32_t const groups = (params.num_consumers + NumThreadsPerWarpGroup - 1) / NumThreadsPerWarpGroup;
      consumers = uint32_t(int(size<0>(cluster)) + int(size<1>(cluster)) - 1) * groups;
    }
    Ring::init_barriers(storage, params.initializing_warp, params.num_producers, consumers);
  }

  /// Constructs the pipeline; called by all threads of the block. Init and Masks are true_type or false_type:
  /// Init initialises the barriers, Masks computes to which blocks this thread signals a release.
  template <class ClusterShape, class Init = true_type, class Masks = true_type>
  CUTLASS_DEVICE PipelineTmaAsync(SharedStorage& storage, Params params, ClusterShape cluster, Init = {}, Masks = {})
      : Ring(storage, params.role), params_(params) {
    if constexpr (Init::value) init_barriers(storage, params, cluster);
    if constexpr (Masks::value) find_target(cluster);
  }

  /// Waits until the stage is empty; the leader announces the bytes of the next fill.
  CUTLASS_DEVICE void producer_acquire(PipelineState s, ProducerToken token = BarrierStatus::WaitAgain) {
    this->wait_empty(s, token);
    if (params_.is_leader) this->full(s).arrive_and_expect_tx(params_.transaction_bytes);
  }
  /// Announces more bytes for the stage.
  CUTLASS_DEVICE void producer_expect_transaction(PipelineState s, uint32_t bytes) {
    this->check_producer();
    if (params_.is_leader) this->full(s).expect_transaction(bytes);
  }
  /// Does nothing: TMA completes the barrier by itself.
  CUTLASS_DEVICE void producer_commit(PipelineState, uint32_t /*bytes*/) {}
  template <class Arrive>
  requires requires(Arrive arrive, uint64_t* barrier) { arrive(barrier); }
  CUTLASS_DEVICE void producer_commit(PipelineState s, Arrive&& arrive) { arrive(this->producer_get_barrier(s)); }
  /// Signals that this thread no longer reads the stage, unless `skip` is set.
  CUTLASS_DEVICE void consumer_release(PipelineState s, uint32_t skip = false) {
    this->check_consumer();
    if (!signals_ || skip) return;
    if (alone_)
      this->empty(s).arrive();
    else  // reads have completed and nothing was written: no release at cluster scope is needed
      zellige::mbarrier_arrive_remote_relaxed(this->ring_.empty_barrier(s.stage()), target_);
  }

 private:
  // One thread per warpgroup and destination block signals a release.
  template <class ClusterShape>
  CUTLASS_DEVICE void find_target(ClusterShape const& cluster) {
    uint32_t const blocks = uint32_t(size(cluster)), row = uint32_t(size<0>(cluster));
    alone_ = blocks == 1;
    signals_ = true;
    if (alone_) return;
    assert((params_.num_consumers % NumThreadsPerWarpGroup == 0 || params_.num_consumers == NumThreadsPerWarp) &&
           "PipelineTmaAsync in a cluster: the consumers are whole warpgroups, or one warp");
    uint32_t const group = params_.num_consumers == NumThreadsPerWarp ? NumThreadsPerWarp : NumThreadsPerWarpGroup;
    uint32_t const thread = threadIdx.x % group, each = group / 16;  // a cluster has at most 16 blocks
    target_ = thread / each;
    auto const here = block_id_in_cluster();
    signals_ = thread % each == 0 && target_ < blocks && (target_ % row == here.x || target_ / row == here.y);
  }

  Params params_;
  uint32_t target_ = 0;
  bool signals_ = false, alone_ = true;
};

/// Pipeline filled by the threads' own stores and by asynchronous copies whose bytes they announce.
template <int Stages_>
class PipelineTransactionAsync
    : public detail::PipelineRing<Stages_, arch::ClusterTransactionBarrier, arch::ClusterBarrier> {
  using Ring = detail::PipelineRing<Stages_, arch::ClusterTransactionBarrier, arch::ClusterBarrier>;

 public:
  using typename Ring::PipelineState;
  using typename Ring::SharedStorage;
  using typename Ring::ThreadCategory;
  struct Params {
    ThreadCategory role = ThreadCategory::NonParticipant;
    uint32_t transaction_bytes = 0;
    uint32_t producer_arv_count = 1;
    uint32_t consumer_arv_count = 1;
    uint32_t dst_blockid = zellige::block_rank_in_cluster();
    int initializing_warp = 0;
  };

  CUTLASS_DEVICE static void init_barriers(SharedStorage& storage, Params const& p) {
    Ring::init_barriers(storage, p.initializing_warp, p.producer_arv_count, p.consumer_arv_count);
  }
  template <class Init = true_type>
  CUTLASS_DEVICE PipelineTransactionAsync(SharedStorage& storage, Params const& params, Init = {})
      : Ring(storage, params.role), params_(params) {
    if constexpr (Init::value) init_barriers(storage, params);
  }

  CUTLASS_DEVICE void producer_acquire(PipelineState s, ProducerToken token = BarrierStatus::WaitAgain) {
    this->wait_empty(s, token);
  }
  CUTLASS_DEVICE void producer_expect_transaction(PipelineState s) {
    this->check_producer();
    this->full(s).expect_transaction(params_.transaction_bytes);
  }
  CUTLASS_DEVICE void producer_commit(PipelineState s) {
    this->check_producer();
    this->arrive_at(this->full(s), params_.dst_blockid);
  }
  CUTLASS_DEVICE void consumer_release(PipelineState s) {
    this->check_consumer();
    this->arrive_at(this->empty(s), params_.dst_blockid);
  }

 private:
  Params params_;
};

/// Pipeline filled by the threads' own stores or their cp.async.
template <int Stages_>
class PipelineAsync : public detail::PipelineRing<Stages_, arch::ClusterBarrier, arch::ClusterBarrier> {
  using Ring = detail::PipelineRing<Stages_, arch::ClusterBarrier, arch::ClusterBarrier>;

 public:
  using typename Ring::PipelineState;
  using typename Ring::SharedStorage;
  using typename Ring::ThreadCategory;
  struct Params {
    ThreadCategory role = ThreadCategory::NonParticipant;
    uint32_t producer_arv_count = 1;
    uint32_t consumer_arv_count = 1;
    uint32_t dst_blockid = zellige::block_rank_in_cluster();
    int initializing_warp = 0;
  };

  CUTLASS_DEVICE static void init_barriers(SharedStorage& storage, Params const& p) {
    Ring::init_barriers(storage, p.initializing_warp, p.producer_arv_count, p.consumer_arv_count);
  }
  template <class Init = true_type>
  CUTLASS_DEVICE PipelineAsync(SharedStorage& storage, Params const& params = {}, Init = {})
      : Ring(storage, params.role), params_(params) {
    if constexpr (Init::value) init_barriers(storage, params);
  }

  CUTLASS_DEVICE void producer_acquire(PipelineState s, ProducerToken token = BarrierStatus::WaitAgain) {
    this->wait_empty(s, token);
  }
  CUTLASS_DEVICE void producer_commit(PipelineState s) {
    this->check_producer();
    this->full(s).arrive();
  }
  /// Commits the stage with a user-defined arrival, such as that of cp.async, in addition to this thread's.
  template <class Arrive>
  CUTLASS_DEVICE void producer_commit(PipelineState s, Arrive&& arrive) {
    arrive(this->producer_get_barrier(s));
    producer_commit(s);
  }
  CUTLASS_DEVICE void consumer_release(PipelineState s) {
    this->check_consumer();
    this->arrive_at(this->empty(s), params_.dst_blockid);
  }

 private:
  Params params_;
};

/// Ring of stages from which TMA stores are issued. One thread commits a group of stores per stage, and may
/// reuse a stage once its group has been read; `UnacquiredStages` younger groups may still be in flight.
template <int Stages_, int UnacquiredStages_ = Stages_ - 1>
class PipelineTmaStore {
  static_assert(Stages_ == 0 || UnacquiredStages_ >= 0);

 public:
  static constexpr uint32_t Stages = uint32_t(Stages_);
  static constexpr uint32_t UnacquiredStages = UnacquiredStages_ > 0 ? uint32_t(UnacquiredStages_) : 0;
  using PipelineState = cutlass::PipelineState<Stages>;
  struct Params {
    bool always_wait = false;
  };

  CUTLASS_DEVICE PipelineTmaStore(Params params = {}) : params_(params) {}
  /// Waits until the stage may be overwritten.
  CUTLASS_DEVICE void producer_acquire(PipelineState s) {
    static_assert(Stages_ > 0, "PipelineTmaStore<0> has no stage to acquire");
    if (params_.always_wait || s.count() > UnacquiredStages) zellige::tma_store_wait_read<int(UnacquiredStages)>();
  }
  CUTLASS_DEVICE void producer_commit(PipelineState) { zellige::tma_store_commit(); }
  CUTLASS_DEVICE void producer_tail(PipelineState) { zellige::tma_store_wait_read<0>(); }

 private:
  Params params_;
};

/// Makes groups of threads run one after another in the order of their numbers: wait() waits for the group's
/// turn, arrive() passes the turn on. A turn consists of `SequenceDepth` parts.
template <int SequenceDepth_, int SequenceLength_>
class OrderedSequenceBarrier {
 public:
  static constexpr int SequenceDepth = SequenceDepth_;
  static constexpr int SequenceLength = SequenceLength_;
  using Barrier = arch::ClusterBarrier;
  struct SharedStorage {
    Barrier barrier_[SequenceDepth][SequenceLength];
  };
  struct Params {
    uint32_t group_id;
    uint32_t group_size;
    int initializing_warp = 0;
  };

  /// Constructs the barrier; called by all threads of the block. Group 0 does not wait the first time.
  CUTLASS_DEVICE OrderedSequenceBarrier(SharedStorage& storage, Params const& params)
      : params_(params), barriers_(&storage.barrier_[0][0]), state_(0, params.group_id == 0, 0) {
    if (canonical_warp_idx_sync() == params.initializing_warp)
      arch::detail::initialize_barrier_array_aligned<Barrier*, uint32_t(SequenceDepth * SequenceLength)>(
          barriers_, int(params.group_size));
    arch::fence_barrier_init();
  }
  OrderedSequenceBarrier(OrderedSequenceBarrier const&) = delete;
  OrderedSequenceBarrier& operator=(OrderedSequenceBarrier const&) = delete;

  CUTLASS_DEVICE void wait() { of_group(params_.group_id).wait(state_.phase()); }
  CUTLASS_DEVICE void arrive() {
    of_group((params_.group_id + 1) % uint32_t(SequenceLength)).arrive();
    ++state_;
  }
  CUTLASS_DEVICE void advance() { ++state_; }

 private:
  CUTLASS_DEVICE Barrier& of_group(uint32_t group) { return barriers_[state_.index() * SequenceLength + int(group)]; }
  Params params_;
  Barrier* barriers_;
  PipelineState<uint32_t(SequenceDepth)> state_;
};

/// Makes the barriers of constructed pipelines visible: arrives at the cluster barrier, or synchronises the
/// block if the cluster has one block. pipeline_init_wait must follow.
CUTLASS_DEVICE void pipeline_init_arrive_relaxed(int cluster_size) {
  if (cluster_size > 1)
    zellige::cluster_arrive_relaxed();
  else
    __syncthreads();
}
/// Completes pipeline_init_arrive_relaxed: waits until all threads of the cluster (or block) have arrived.
CUTLASS_DEVICE void pipeline_init_wait(int cluster_size) {
  if (cluster_size > 1)
    zellige::cluster_wait();
  else
    __syncthreads();
}

}  // namespace cutlass
#endif
#endif
