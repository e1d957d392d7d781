// Proves that what a step says of itself is what the emitter makes of it: how it completes, what it writes in shared memory, at
// which stage, and what it accesses in global memory. verify() believes these facts of steps; here they are derived again from
// the work, its layout and its tensors. By which instruction the work is, and how wide, verify_instructions() proves.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::verify {

/// Throws Rejected unless each step of a warp role that does work
///
/// - is a copy or an asynchronous product if its instruction completes later, with the channel by which it does, and a
///   computation otherwise;
/// - writes the tensor of its work and no other, at the stage that the emitter gives it;
/// - reads at the stage of its iteration, and says what it accesses in global memory;
/// - copies the part of a tile that its rank has to copy.
void verify_step_facts(const kernel::Kernel&, const tile::TilePrograms&);

}  // namespace zellige::verify
