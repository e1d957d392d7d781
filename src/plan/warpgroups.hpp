// Warpgroups: a kernel whose loop consists of matmuls of loads may use wgmma on tiles loaded by TMA.
//
// Each matmul gets the instruction that reads both operands from shared memory, and its warps are adjacent
// along M. Later passes read the instruction: group uses tensor maps for the loads, arrange_buffers chooses
// layouts that it supports, agents splits the kernel into producer and consumer.
// Before: select, resolve_layouts. After: the matmuls' instructions and warps, if they apply.
#pragma once
#include <string>
#include <string_view>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Returns an empty string if the plan was changed, otherwise the reason, for a note.
std::string warpgroups(KernelPlan&, const Program&, const target::Target&);

/// wgmma: the instructions that a warpgroup issues for its rows, 64 each; a warpgroup's rows repeat every 64 x
/// warpgroups.
std::int64_t instructions_of_rows(const MatmulChoice&);

/// The instruction whose tiles of 8 columns a Fragment has for the accumulators of a wgmma whose N is no multiple
/// of 16 (of_single_tiles); with its default instruction tiles come in pairs.
inline constexpr std::string_view single_tiles = "SM80_16x8x8_F32F16F16F32_TN";
bool of_single_tiles(const Instruction&);

/// Returns whether wgmma's accumulators, with a batch's columns adjacent, are in the registers in which those
/// of `separate` over the same warps would be: their users are written for that layout.
bool leaves_as(const Instruction& row, const Instruction& separate, const Shape& c, const WarpLayout& warps);

/// Lets pairs of blocks with vertically adjacent tiles load half each of the operand that both use. Returns
/// false if the grid has no such pairs or the tile no such halves. Before: arrange_buffers.
bool share_by_pairs(KernelPlan&, const target::Target&);

}  // namespace zellige::plan
