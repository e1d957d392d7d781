// The verifier's input: each agent's steps as a linear trace, with loops unrolled and guards decided.
//
// Control flow is static, so the trace is known before the simulation. A long loop is shortened to a number
// of iterations that is congruent to the real one modulo every stage count, and long enough to reach each
// stage twice, and to include the first iterations and the guarded last ones.
#pragma once
#include "plan/schedule.hpp"

namespace zellige::plan {

struct Event {
  const Step* step = nullptr;
  int index = 0;               // of the step in its agent
  std::int64_t iteration = 0;  // of the innermost loop; 0 outside
  std::int64_t shown = 0;      // the same in the unshortened loop, for messages
  enum class Place : std::uint8_t { no_loop, before_loop, in_loop, after_loop } place{};
};

/// Returns one trace per agent. Precondition: check_structure passed.
std::vector<std::vector<Event>> unroll(const Schedule&, const std::string& kernel);

/// step 'mma' of iteration 3
std::string describe(const Event&);

inline int stage_of(const Access& a, int stages, std::int64_t iteration) {
  return static_cast<int>(((iteration + a.lag) % stages + stages) % stages);
}

}  // namespace zellige::plan
