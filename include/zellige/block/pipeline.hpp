// A ring of shared-memory stages between a thread that fills them by TMA and warps that use them up.
//
//   const auto pipeline = PipelineTmaAsync<4>::at(/*byte_offset=*/barriers);
//   if (threadIdx.x == 0) pipeline.init(/*consumers=*/8), fence_mbarrier_init();
//   __syncthreads();
//   // the producer                                       // each of the 8 consuming warps
//   PipelineState<4> write = producer_start<4>();         PipelineState<4> read;
//   pipeline.producer_acquire(write, bytes);              pipeline.consumer_wait(read);
//   tma_load_2d(stage(write.index), map,                  ... stage(read.index) ...
//               pipeline.full_barrier(write), k, m);      if (lane == 0) pipeline.consumer_release(read);
//   ++write;                                              ++read;
//
// A stage has two barriers: `full` ends a phase when the announced bytes are there, `empty` when all consumers
// have released it. In a cluster whose blocks share what is loaded (multicast), a stage is empty when the
// consumers of all of them have released it: release it at every block that writes into it.
#pragma once
#include <zellige/atom/mbarrier.hpp>

namespace zellige {

/// Which stage of a ring, and the parity of its phase.
template <int Stages>
struct PipelineState {
  int index = 0;
  unsigned phase = 0;
  ZELLIGE_CALL PipelineState& operator++() {
    if (++index == Stages) {
      index = 0;
      phase ^= 1;
    }
    return *this;
  }
};
/// Where a producer starts: all stages are empty, as if a phase had just ended.
template <int Stages>
ZELLIGE_CALL PipelineState<Stages> producer_start() {
  return {0, 1};
}

template <int Stages>
struct PipelineTmaAsync {
  static constexpr unsigned bytes = 16 * Stages;  // of its barriers
  smem<uint64_t> full, empty;

  ZELLIGE_CALL static PipelineTmaAsync at(unsigned byte_offset, const char* full = "full",
                                          const char* empty = "empty") {
    return {shared<uint64_t>(full, byte_offset, Stages),
            shared<uint64_t>(empty, byte_offset + 8 * Stages, Stages)};
  }
  /// By one thread, with fence_mbarrier_init and a barrier of the block or cluster after it.
  ZELLIGE_CALL void init(unsigned consumers) const {
    for (int i = 0; i < Stages; ++i) {
      mbarrier_init(full + i, 1);
      mbarrier_init(empty + i, consumers);
    }
  }
  ZELLIGE_CALL smem<uint64_t> full_barrier(const PipelineState<Stages>& s) const { return full + s.index; }

  /// Waits until the stage is empty and announces how many bytes will come.
  ZELLIGE_CALL void producer_acquire(const PipelineState<Stages>& s, unsigned transaction_bytes) const {
    mbarrier_wait(empty + s.index, s.phase);
    mbarrier_arrive_expect_tx(full + s.index, transaction_bytes);
  }
  /// Before the producer leaves: all its stages have been released, so nobody will arrive here any more.
  ZELLIGE_CALL void producer_tail(PipelineState<Stages> s) const {
    for (int i = 0; i < Stages; ++i, ++s) mbarrier_wait(empty + s.index, s.phase);
  }
  ZELLIGE_CALL void consumer_wait(const PipelineState<Stages>& s) const {
    mbarrier_wait(full + s.index, s.phase);
  }
  ZELLIGE_CALL void consumer_release(const PipelineState<Stages>& s) const {
    mbarrier_arrive(empty + s.index);
  }
  /// The same stage of the cluster's block `rank`.
  ZELLIGE_CALL void consumer_release(const PipelineState<Stages>& s, unsigned rank) const {
    mbarrier_arrive_remote_relaxed(empty + s.index, rank);
  }
};

}  // namespace zellige
