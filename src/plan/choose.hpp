// Choice: which loads go through shared memory, which values are stored to be shared, when copies start and whether a barrier
// lets the loop's memory be used again. Each combination is planned whole, through the passes from group to memory; the
// first that fits the target is taken, from the fastest to the smallest, and the notes say what the others needed.
// Before: select, resolve_layouts. After: everything that those passes fill.
#pragma once
#include <vector>

#include "plan/pipeline.hpp"

namespace zellige::plan {

/// In which ways blocks may take the tiles of products on warpgroups, the first that fits before others. Where every block has
/// several tiles, pairs lost to blocks that stay alone at every size that was measured (docs/log.md).
inline const std::vector<Blocks> ways_of_blocks{Blocks::split_k, Blocks::stay, Blocks::pairs, Blocks::a_tile};

/// Throws Error with the least that any of them needs, where none fits.
void choose(KernelPlan&, const Program&, const target::Target&, const std::vector<Blocks>& = ways_of_blocks);

}  // namespace zellige::plan
