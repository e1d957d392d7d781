// Split K: where a product on warpgroups has fewer tiles than there are multiprocessors, blocks of a cluster sum a slice of the loop
// each. What one has summed of another's columns it sends there, through distributed shared memory; each stores its part of the tile.
//
// Before: arrange_buffers. After: KernelPlan::split_k, a buffer and two tasks for the exchange, and the store's part.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Blocks that sum a tile together where that leaves none waiting for a multiprocessor and each a loop worth it; else 1.
int split_of(std::int64_t tiles, std::int64_t iterations, const target::Target&);

/// False where the kernel is none of one product whose tile leaves by TMA, element by element, in parts of whole boxes.
bool split_k(KernelPlan&, const target::Target&);

}  // namespace zellige::plan
