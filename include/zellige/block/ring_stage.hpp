// Defines RingStage: a thread's position in a pipeline of stages (ring.hpp). The k-th use of the pipeline, from 0,
// uses stage k mod Stages and waits for an mbarrier phase with the parity of k / Stages.
//
//   auto stage = RingStage<4>::first();                   ++stage;  stage.advance(6);    // k = 7: stage 3, phase 1
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
  /// Advances by `steps` uses of the pipeline: the same as applying ++ `steps` times.
  ZELLIGE_ANYWHERE RingStage& advance(unsigned steps) {
    const unsigned at = static_cast<unsigned>(index) + steps;
    phase ^= at / Stages & 1;
    index = static_cast<int>(at % Stages);
    return *this;
  }
  /// Returns the position at which a consumer starts: stage 0, for whose first loads it must wait.
  ZELLIGE_ANYWHERE static RingStage first() { return {}; }
  /// Returns the position at which a producer starts: stage 0. Its phase parity is 1, so that waits on newly
  /// initialised mbarriers return at once: all stages are empty.
  ZELLIGE_ANYWHERE static RingStage first_empty() { return {0, 1}; }
};

}  // namespace zellige
