// Expands the kernel that the blocks of a cluster run together into one flat schedule of the warp roles of all blocks
// (ranks), for the verifier.
//
//   Kernel flat = all_ranks(kernel);   // agents "producer of rank 0", "consumer of rank 0", ...
//
// Each rank has its own tensors, channels (rings of shared-memory stages between warp roles) and agents (warp
// roles). A multicast copy by one rank fills a part of the tile in every rank. The consumers of a rank
// therefore release a stage to the producers of all ranks. A channel through which ranks exchange partial
// results becomes one channel for each ordered pair of ranks.
#pragma once
#include "verify/words.hpp"

namespace zellige::verify {

/// A named barrier's id in the flat schedule is this times the rank, plus its own id.
constexpr int barriers_per_rank = 1000;

/// Returns a kernel with the warp roles, tensors, channels and mbarriers of all blocks of the cluster, and nothing else.
/// Requires a cluster of at least two blocks.
Kernel all_ranks(const Kernel&);

}  // namespace zellige::verify
