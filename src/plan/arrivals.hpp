// Arrivals: how many threads each barrier of a schedule waits for. The emitter prints these numbers, and verify() proves that as many come.
//
//   count_arrivals(schedule);            // Channel::arrivals and Step::threads
#pragma once
#include "plan/schedule.hpp"

namespace zellige::plan {

/// Of mbarriers, warps that give a stage back; of named barriers, threads of the agents that name them. To be called when agents and
/// channels are complete.
void count_arrivals(Schedule&);

}  // namespace zellige::plan
