// Warpgroups: a kernel whose loop is products of loads alone may multiply on wgmma, from tiles that TMA brings.
//
// Each product gets the row of four warps that reads both operands from shared memory, and its warps lie one behind another
// along M. From there on the passes read the row: group lets the loads travel by tensor map, arrange_buffers lays them
// out as the row admits, agents makes a producer and a consumer of the kernel.
// Before: select, resolve_layouts. After: the products' rows and warps, where they apply.
#pragma once
#include <string>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Empty where the plan has changed; else why it stays as it is, for the reader of a note.
std::string warpgroups(KernelPlan&, const Program&, const target::Target&);

/// Whether a row's sums, a batch's columns side by side, lie in the registers in which a plain product's over the same warps would:
/// what reads them is written for those.
bool leaves_as(const Instruction& row, const Instruction& plain, const Shape& c, const WarpLayout& warps);

/// Lets pairs of blocks, whose tiles lie one below the other, bring each a half of what both multiply by; false where the grid
/// has no such pairs or the tile no such halves. Before: arrange_buffers.
bool share_by_pairs(KernelPlan&, const target::Target&);

}  // namespace zellige::plan
