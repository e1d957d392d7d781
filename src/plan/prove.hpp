// The proofs that every plan of a kernel has to pass, in order.
#pragma once
#include "kernel/kernel.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Returns what the warp roles of a block execute if a mask or a size leaves `trip_count` of the loop's `loop` iterations, and
/// the first of these does not need the mask. prove() verifies this in addition to all iterations.
std::vector<kernel::Agent> with_trip_count(std::vector<kernel::Agent>, std::int64_t loop, std::int64_t trip_count);

/// Throws Rejected if a proof rejects the complete plan, and DoesNotFit if it needs more than the target has. `registers`:
/// the register proof, the most expensive one, is among them. The kernel changes while it is proved, and is the same afterwards.
void prove(kernel::Kernel&, const tile::TilePrograms&, const target::Target&, bool registers);

/// Throws DoesNotFit if the program's threads per block or its grid exceed the target's limits.
void check_limits(const tile::TileProgram&, const target::Target&);

}  // namespace zellige::plan
