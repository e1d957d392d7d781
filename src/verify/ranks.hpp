// Expands the schedule that the blocks of a cluster run together into one flat schedule of the warp roles
// of all blocks (ranks), for the verifier.
//
//   Schedule flat = all_ranks(schedule);   // agents "producer of rank 0", "consumer of rank 0", ...
//
// Each rank has its own tensors, channels (rings of shared-memory stages between warp roles) and agents (warp
// roles). A multicast copy by one rank fills a part of the tile in every rank. The consumers of a rank
// therefore release a stage to the producers of all ranks. A channel through which ranks exchange partial
// results becomes one channel for each ordered pair of ranks.
#pragma once
#include "kernel/schedule.hpp"

namespace zellige::plan {

/// A named barrier's id in the flat schedule is this times the rank, plus its own id.
constexpr int barriers_per_rank = 1000;

/// Returns one schedule with the warp roles of all blocks of the cluster; the schedule itself if the
/// cluster has one block.
Schedule all_ranks(const Schedule&);

}  // namespace zellige::plan
