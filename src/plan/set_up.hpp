// Completes a schedule of agents and channels with what its barriers need: steps before and after the agents,
// and arrival counts.
//
//   set_up(schedule);            // Schedule::setup and teardown, drain steps, Step::arrivals and Step::threads
//
// One thread initialises the mbarriers, and all threads synchronise before their first use. If ranks fill
// each other's stages, the producer drains its channel and the ranks synchronise before any of them ends.
// verify() proves steps and counts.
#pragma once
#include "plan/schedule.hpp"

namespace zellige::plan {

void set_up(Schedule&);

}  // namespace zellige::plan
