// Unrolls a schedule into the verifier's input: one list of executed steps (events) per warp role, without
// loops and with all guards (conditions on the iteration) decided.
//
// Control flow is static, so the list is known before the simulation. A long loop is shortened to a trip
// count that is congruent to the real one modulo every number of stages. The shortened loop uses each stage
// twice and contains the first iterations and the last, guarded ones.
#pragma once
#include "verify/words.hpp"

namespace zellige::verify {

/// One execution of a step.
struct StepEvent {
  const Step* step = nullptr;
  int index = 0;               // number of the step in its agent
  std::int64_t iteration = 0;  // of the innermost loop, counting on across tiles; 0 outside of loops
  std::int64_t shown = 0;      // the iteration's number in the unshortened loop, for messages
  enum class Place : std::uint8_t { no_loop, before_loop, in_loop, after_loop } place{};
  std::int64_t tile = 0;  // of a block that takes several
};

/// Returns the executed steps (events) of each warp role, in order. Call check_structure() first. Throws
/// DoesNotFit if a warp role executes more than two million steps.
std::vector<std::vector<StepEvent>> unroll(const Kernel&);

/// Returns the name of an executed step in messages: "step 'mma' of iteration 3".
std::string describe(const StepEvent&);

/// Returns the stage that an access touches in the given iteration, of a tensor with `stages` stages.
inline int stage_of(const Access& a, int stages, std::int64_t iteration) {
  return static_cast<int>(((iteration + a.lag) % stages + stages) % stages);
}

}  // namespace zellige::verify
