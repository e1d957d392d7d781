// PipelineState: a thread's position in a ring of pipeline stages; and tokens, the results of non-blocking
// waits.
//
//   auto write = cutlass::make_producer_start_state<Pipeline>();   PipelineState<4> read;
//   write.index(), write.phase()                                   ++write; read.advance(2);
#pragma once
#include <cutlass/detail/helper_macros.hpp>
#include <zellige/block/ring_stage.hpp>

namespace cutlass {

using zellige::uint32_t;

enum class BarrierStatus : uint32_t { WaitAgain = 0, WaitDone = 1 };

/// Result of a non-blocking wait: WaitDone if the wait has completed.
class ArrivalToken {
 public:
  ArrivalToken() = delete;
  CUTLASS_HOST_DEVICE ArrivalToken(BarrierStatus status) : status_(status) {}
  CUTLASS_HOST_DEVICE BarrierStatus get() const { return status_; }
  CUTLASS_HOST_DEVICE friend bool operator==(ArrivalToken const& a, ArrivalToken const& b) {
    return a.status_ == b.status_;
  }

 private:
  BarrierStatus status_;
};
struct ProducerToken : ArrivalToken {
  using ArrivalToken::ArrivalToken;
};
struct ConsumerToken : ArrivalToken {
  using ArrivalToken::ArrivalToken;
};

/// A position in the ring: the stage index, the parity of the barrier phase to wait for, and the number of
/// stages passed so far.
template <uint32_t Stages_>
struct PipelineState {
  static constexpr uint32_t Stages = Stages_;
  using Stage = zellige::RingStage<int(Stages)>;

  PipelineState() = default;
  CUTLASS_HOST_DEVICE PipelineState(int index, uint32_t phase, uint32_t count) : stage_{index, phase}, count_(count) {}
  CUTLASS_HOST_DEVICE int index() const { return stage_.index; }
  CUTLASS_HOST_DEVICE uint32_t phase() const { return stage_.phase; }
  CUTLASS_HOST_DEVICE uint32_t count() const { return count_; }
  CUTLASS_HOST_DEVICE Stage const& stage() const { return stage_; }

  CUTLASS_HOST_DEVICE PipelineState& operator++() {
    if constexpr (Stages > 0) ++stage_, ++count_;
    return *this;
  }
  CUTLASS_HOST_DEVICE PipelineState& advance(uint32_t steps) {
    if constexpr (Stages > 0) stage_.advance(steps), count_ += steps;
    return *this;
  }
  CUTLASS_HOST_DEVICE PipelineState& operator+=(uint32_t steps) { return advance(steps); }
  CUTLASS_HOST_DEVICE static PipelineState make_pipeline_state(PipelineState start, uint32_t steps) {
    return start.advance(steps);
  }

 private:
  Stage stage_;
  uint32_t count_ = 0;
};
/// Returns the start position of a producer, for which every stage is empty: its first waits succeed at once.
template <class Pipeline>
CUTLASS_DEVICE PipelineState<Pipeline::Stages> make_producer_start_state() {
  auto const start = PipelineState<Pipeline::Stages>::Stage::first_empty();
  return {start.index, start.phase, 0};
}

}  // namespace cutlass
