// Expands the kernel that the blocks of a cluster run together into one flat schedule of the warp roles of all blocks
// (blocks), for the verifier.
//
//   Kernel flat = flat_cluster(kernel);   // agents "producer of block 0", "consumer of block 0", ...
//
// Each block has its own tensors, channels (rings of shared-memory stages between warp roles) and agents (warp
// roles). A multicast copy by one block fills a part of the tile in every block. The consumers of a block
// therefore release a stage to the producers of all blocks. A channel through which blocks exchange partial
// results becomes one channel for each ordered pair of blocks.
#pragma once
#include "verify/words.hpp"

namespace zellige::verify {

/// A named barrier's id in the flat schedule is this times the block, plus its own id.
constexpr int barriers_per_block = 1000;

/// Returns a kernel with the warp roles, tensors, channels and mbarriers of all blocks of the cluster, and nothing else.
/// Requires a cluster of at least two blocks.
Kernel flat_cluster(const Kernel&);

}  // namespace zellige::verify
