// RingStage: a thread's position in a ring of stages. The k-th use of a ring is stage k mod Stages, in a
// phase with the parity of k / Stages.
//
//   auto stage = RingStage<4>::first();                   ++stage;  stage.advance(6);
#pragma once
#include <zellige/atom/config.hpp>

namespace zellige {

/// The index of a stage, and the parity of its phase.
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
  ZELLIGE_ANYWHERE RingStage& advance(unsigned steps) {
    const unsigned at = static_cast<unsigned>(index) + steps;
    phase ^= at / Stages & 1;
    index = static_cast<int>(at % Stages);
    return *this;
  }
  /// The start of a consumer, and of a producer, for whom all stages are empty as if a phase had just ended.
  ZELLIGE_ANYWHERE static RingStage first() { return {}; }
  ZELLIGE_ANYWHERE static RingStage first_empty() { return {0, 1}; }
};

}  // namespace zellige
