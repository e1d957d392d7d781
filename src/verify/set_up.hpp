// Completes a schedule with the steps that its barriers need before and after the warp roles, and with the
// arrival counts of its barriers.
//
//   set_up(schedule);   // sets setup, teardown, drain steps, MbarrierInit::arrivals and Barrier::threads
//
// One thread initialises the mbarriers, and all threads synchronise before the first use. If the blocks of a cluster
// fill each other's stages, the producer waits at its end until all stages have been released (drain), and the cluster
// synchronises before a block exits. verify() proves that these steps and counts are right.
#pragma once
#include "verify/words.hpp"

namespace zellige::verify {

/// Adds the setup, teardown and drain steps to a schedule that has all its warp roles and channels, and sets the
/// arrival counts of mbarriers and the thread counts of named barriers. Call it once per schedule.
void set_up(Kernel&);

}  // namespace zellige::verify
