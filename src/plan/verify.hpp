// The plan verifier: proves that a schedule has no races, no reads of unwritten data, no asynchronous copy
// without a wait and no missing proxy fence, and that it is within the target's limits. It runs the agents'
// steps symbolically (a few iterations of each loop, enough to reach every stage twice) with one vector clock
// per agent and per asynchronous copy.
#pragma once
#include "plan/schedule.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Throws Rejected with agents, steps, tensor and what is missing: "kernel: consumer reads sA[0] in step
/// 'wgmma' of
/// iteration 3, but ...".
void verify(const Schedule&, const std::string& kernel, const target::Target&);

}  // namespace zellige::plan
