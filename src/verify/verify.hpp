// The plan verifier: proves that a schedule is free of races, reads of unwritten data, deadlocks,
// asynchronous copies without a wait and missing proxy fences, and that it is within the target's limits.
//
// The steps of all warp roles (agents) are executed symbolically, with one vector clock component per agent, per agent
// and kind of asynchronous group, and per channel (a ring of shared-memory stages between warp roles). Long loops are
// shortened to enough iterations to use every stage twice. docs/explanation/verifier.md has the rules and the proof.
#pragma once
#include "target/target.hpp"
#include "verify/words.hpp"

namespace zellige::verify {

/// Throws Rejected if the schedule is wrong, and DoesNotFit if the target lacks what the schedule needs.
/// The message names the warp roles, steps and tensor, and what is missing: "kernel: consumer reads sA[0]
/// in step 'wgmma' of iteration 3, but ...".
void verify(const Kernel&, const target::Target&);

}  // namespace zellige::verify
