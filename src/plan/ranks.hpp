// Ranks: a schedule that the blocks of a cluster run together, as one flat schedule of all their agents for the proof.
//
// Each rank has its own tensors, channels and agents. What differs from so many blocks side by side: a multicast copy is a part
// of the tile for every rank, and a channel that any copy of its kind fills is given back to every rank. A channel among peers is one
// for each rank and each other one that writes to it.
#pragma once
#include "plan/schedule.hpp"

namespace zellige::plan {

/// A barrier's number in the flat schedule is this times its rank more.
constexpr int barriers_apart = 1000;

/// The schedule itself where it has one rank.
Schedule all_ranks(const Schedule&);

}  // namespace zellige::plan
