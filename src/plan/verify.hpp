// The plan verifier: proves a schedule free of races, of reads of what nobody wrote, of asynchronous copies nobody
// waited for, of missing proxy fences, and within the target's limits. It runs the agents' steps symbolically (a few
// iterations of each loop, enough to meet every stage twice) with one vector clock an agent and one an asynchronous copy.
#pragma once
#include "plan/schedule.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Throws Rejected naming agents, steps, tensor and what is missing: "kernel: consumer reads sA[0] in step 'wgmma' of
/// iteration 3, but ...".
void verify(const Schedule&, const std::string& kernel, const target::Target&);

}  // namespace zellige::plan
