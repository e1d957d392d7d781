// Chooses which loads go through shared memory, which values are materialised, when copies start, and whether
// a barrier lets the loop's memory be reused. Each combination is planned completely, by the passes from
// group to memory, from the fastest to the smallest; the first that fits the target is taken, and the notes
// report what the others needed.
// Before: select, resolve_layouts. After: everything that those passes fill.
#pragma once
#include <vector>

#include "plan/pipeline.hpp"

namespace zellige::plan {

/// Ways in which blocks may take the tiles of matmuls on warpgroups, in order of preference. Where every
/// block has several tiles, pairs were slower than persistent single blocks at every measured size
/// (docs/log.md).
inline const std::vector<Blocks> ways_of_blocks{Blocks::split_k, Blocks::persistent, Blocks::pairs,
                                                Blocks::a_tile};

/// Throws Error with the least requirement of any combination if none fits.
void choose(KernelPlan&, const Program&, const target::Target&, const std::vector<Blocks>& = ways_of_blocks);

}  // namespace zellige::plan
