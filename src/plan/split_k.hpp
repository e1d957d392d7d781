// Split K: if a matmul on warpgroups has fewer tiles than there are multiprocessors, each block of a cluster
// accumulates a slice of the loop. The blocks exchange partial results through distributed shared memory, and
// each stores its part of the tile.
//
// Before: arrange_buffers. After: KernelPlan::split_k, a buffer and two tasks for the exchange, and the
// store's part.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// The number of blocks per tile, such that all blocks are resident and each has a long enough loop; else 1.
int split_of(std::int64_t tiles, std::int64_t iterations, const target::Target&);

/// Returns false unless the kernel is one matmul whose tile is stored by TMA, elementwise, in parts of whole
/// boxes.
bool split_k(KernelPlan&, const target::Target&);

}  // namespace zellige::plan
