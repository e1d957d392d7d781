// Expands the schedule that the blocks of a cluster run together into one flat schedule of all their agents,
// for the verifier.
//
// Each rank has its own tensors, channels and agents. In contrast to independent blocks, a multicast copy
// fills a part of the tile for every rank, and a channel with any multicast copy is released to every rank. A
// exchange channel is one for each pair of a rank and a rank that writes to it.
#pragma once
#include "plan/schedule.hpp"

namespace zellige::plan {

/// A rank's barrier id in the flat schedule is this times the rank, plus the id.
constexpr int barriers_per_rank = 1000;

/// Returns the schedule unchanged if it has one rank.
Schedule all_ranks(const Schedule&);

}  // namespace zellige::plan
