// Divides K of a matmul on warpgroups between the two blocks of a cluster (split K), if the matmul has at most one
// output tile per two multiprocessors. Each block accumulates half of K for all of the tile, sends half of its
// accumulators to the other block through distributed shared memory, and stores half of the tile's columns.
//
// Runs before arrange_buffers, which chooses the layouts of buffers.
#pragma once
#include "kernel/kernel.hpp"
#include "select/task.hpp"

namespace zellige::plan {

/// Returns the number of blocks per output tile. It is 2 if all blocks are then resident at the same time and
/// each has at least 32 of the loop's `iterations`; otherwise 1.
int split_of(std::int64_t tiles, std::int64_t iterations, const target::Target&);

/// Splits K of a kernel's matmul over two blocks: sets Kernel::split_k, ranks and Work::part, and adds a buffer and two
/// tasks for the exchange of partial results. Returns false, without splitting, unless the kernel is one matmul on
/// warpgroups, followed by elementwise work and TMA stores whose boxes can be divided between two blocks.
bool split_k(Kernel&, Tasks&, const target::Target&);

}  // namespace zellige::plan
