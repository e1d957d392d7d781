// Adds to a schedule of complete agents and channels what its barriers need: the steps before and after the agents, and counts.
//
//   set_up(schedule);            // Schedule::setup and teardown, drain steps, Step::arrivals and Step::threads
//
// mbarriers are initialised by one thread, and all threads meet before the first use; where ranks fill each other's stages, the producer
// drains its channel and the ranks meet before one of them ends. verify() proves steps and counts.
#pragma once
#include "plan/schedule.hpp"

namespace zellige::plan {

void set_up(Schedule&);

}  // namespace zellige::plan
