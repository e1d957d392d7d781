// Defines RingStage: a thread's position in a pipeline of stages (ring.hpp). The k-th use of the pipeline is stage
// k mod Stages, in an mbarrier phase with the parity of k / Stages.
//
//   auto stage = RingStage<4>::first();                   ++stage;  stage.advance(6);
#pragma once
#include <zellige/atom/config.hpp>

namespace zellige {

/// The index of a stage, and the parity of the mbarrier phase to wait for.
template <int Stages>
struct RingStage {
  int index = 0;
  unsigned phase = 0;
  ZELLIGE_ANYWHERE RingStage& operator++() {
    if (++index == Stages) {
      index = 0;
      phase ^= 1;
    }
    return *this;
  }
  ZELLIGE_ANYWHERE RingStage operator++(int) {
    const RingStage before = *this;
    ++*this;
    return before;
  }
  /// Advances by `steps` uses of the pipeline, as `steps` increments.
  ZELLIGE_ANYWHERE RingStage& advance(unsigned steps) {
    const unsigned at = static_cast<unsigned>(index) + steps;
    phase ^= at / Stages & 1;
    index = static_cast<int>(at % Stages);
    return *this;
  }
  /// Returns the first stage of a consumer.
  ZELLIGE_ANYWHERE static RingStage first() { return {}; }
  /// Returns the first stage of a producer. Its parity makes waits on new mbarriers return at once, because all stages
  /// are empty.
  ZELLIGE_ANYWHERE static RingStage first_empty() { return {0, 1}; }
};

}  // namespace zellige
