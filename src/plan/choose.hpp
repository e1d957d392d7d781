// Chooses how a kernel uses shared memory and warps: plans several forms of the kernel completely, and takes the first
// one that fits the target's shared memory. From the fastest form to the one with the least memory:
//
// 1. matmuls by wgmma with TMA loads, with the ways in which blocks take tiles (ways_of_blocks);
// 2. mma.sync or FMA with tiles in shared memory, all copies started first, or started when memory is least;
// 3. the same with tiles that no tensor core reads loaded directly from global memory.
//
// Forms 2 and 3 are also tried with a barrier after the loop, which lets later buffers reuse the loop's memory. If
// no form fits, the largest materialised value is recomputed where it is read, and all forms are tried once more.
// The plan's notes say how much memory each rejected form needs.
#pragma once
#include <vector>

#include "plan/pipeline.hpp"

namespace zellige::plan {

/// The ways in which blocks may take output tiles of matmuls by wgmma, in order of preference. Clusters of two blocks
/// (pairs) come after persistent blocks, which were faster at every measured size with several tiles per block
/// (docs/log.md).
inline const std::vector<Blocks> ways_of_blocks{Blocks::split_k, Blocks::persistent, Blocks::pairs,
                                                Blocks::a_tile};

/// Completes the plan, from the thread-value layouts to the addresses in shared memory, in the first form that fits.
/// Requires the choice of the matmuls' instructions and of all contiguous dimensions. Throws DoesNotFit, with the
/// least number of bytes that any form needs, if none fits.
void choose(KernelPlan&, const Program&, const target::Target&, const std::vector<Blocks>& = ways_of_blocks);

}  // namespace zellige::plan
