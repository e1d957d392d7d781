// Divides K of a matmul on warpgroups between the blocks of a cluster (split K). Each block accumulates its part of K for
// all of an output tile, sends to every other block that block's part of the accumulators through distributed shared
// memory, and stores its own part of the tile's columns.
//
// Runs before arrange_buffer() of the buffers that are stored in parts (plan/swizzle.hpp): a part is whole spans.
#pragma once
#include "kernel/kernel.hpp"
#include "selection/task.hpp"

namespace zellige::selection {

/// Splits K of a kernel's matmul over the `cluster` blocks of a cluster: sets Kernel::split_k, cluster and Work::part, and adds a buffer and two
/// tasks for the exchange of partial results. Returns false, without splitting, unless the kernel is one matmul on
/// warpgroups, followed by elementwise work and TMA stores of tiles whose columns can be divided between the blocks.
bool split_k(kernel::Kernel&, Tasks&, int cluster);

}  // namespace zellige::selection
