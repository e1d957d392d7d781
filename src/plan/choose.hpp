// Chooses how a kernel uses shared memory and warps. Plans several forms of the kernel completely, and takes the first
// one that fits the target's shared memory. The forms, from the fastest to the one that needs the least memory, are:
//
// 1. Matmuls by wgmma with TMA loads. Of the ways of assigning output tiles to blocks (ways_of_blocks) the one of least
//    expected time is taken.
// 2. Matmuls by mma.sync or FMA with all tiles in shared memory. The copies that are needed only after the loop all
//    start together, or, with less memory, each in the phase in which the kernel uses the least shared memory.
// 3. As 2, but tiles that are not operands of tensor cores are read directly from global memory.
//
// Forms 2 and 3 are also tried with a barrier after the loop, which lets later buffers reuse the loop's memory. If no
// form fits, the largest value that is stored only to avoid recomputing it is recomputed by each of its readers, and
// all forms are tried again. The plan's notes say how much memory each rejected form needs.
#pragma once
#include <vector>

#include "plan/pipeline.hpp"
#include "plan/swizzle.hpp"
#include "selection/select.hpp"

namespace zellige::plan {

/// The ways of assigning the output tiles of wgmma matmuls to blocks. Of two with the same expected time the first is
/// taken. Eight is the largest cluster that every GPU with clusters can run.
inline const std::vector<BlockAssignment> ways_of_blocks{{Blocks::split_k, 2}, {Blocks::split_k, 4},
                                                         {Blocks::split_k, 8}, Blocks::persistent,
                                                         Blocks::pairs,        Blocks::a_tile};

/// Returns the kernel that computes a tile program, from the thread-value layouts to the addresses in shared memory.
/// Tries several forms of the kernel (ways of using shared memory and warps, such as wgmma with TMA loads), the fastest
/// first, and keeps the first that fits the target's shared memory. The ways of assigning output tiles to blocks to try
/// may be given; a single one is taken wherever it is possible.
/// Requires that all contiguous dimensions are chosen. Throws DoesNotFit if no
/// form fits; the message has the least number of bytes that any form needs.
kernel::Kernel choose(selection::Selection, const tile::TilePrograms&, const target::Target&,
                      const std::vector<BlockAssignment>& = ways_of_blocks, Swizzles = Swizzles::automatic);

}  // namespace zellige::plan
