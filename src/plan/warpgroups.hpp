// Puts the matmuls of a loop on warpgroups (wgmma) with tiles loaded by TMA, if the loop does nothing but
// multiply tiles that it loads.
//
// Each such matmul gets an instruction that reads both operands from shared memory, and the block's warps
// along M. Later passes follow from the instruction: group gives the loads tensor maps, arrange_buffers
// uses the layouts that wgmma reads, and agents splits the kernel into a producer and consumers.
//
// Runs after resolve_layouts, which chooses the contiguous dimension of every tile.
#pragma once
#include <string>
#include <string_view>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Sets the instructions and warps of the loop's matmuls and returns an empty string. Otherwise changes
/// nothing and returns the reason, for a note.
std::string warpgroups(KernelPlan&, const Program&, const target::Target&);

/// Returns how many wgmma instructions cover the rows of one warpgroup, 64 rows each. Consecutive
/// instructions of a warpgroup are 64 x (number of warpgroups) rows apart.
std::int64_t instructions_of_rows(const MatmulChoice&);

/// The instruction that describes the accumulators of a wgmma whose N is not a multiple of 16: tiles of 8
/// columns. The default instruction has pairs of such tiles.
inline constexpr std::string_view single_tiles = "SM80_16x8x8_F32F16F16F32_TN";
/// Returns whether a wgmma's N is not a multiple of 16.
bool of_single_tiles(const Instruction&);

/// Returns whether two instructions leave a result of shape `c` in the same registers of the same warps:
/// the wgmma `row`, with the columns of a batch adjacent, and the instruction `separate`. Code that reads
/// accumulators is written for the latter.
bool leaves_as(const Instruction& row, const Instruction& separate, const Shape& c, const WarpLayout& warps);

/// Lets clusters of two blocks with vertically adjacent tiles load half of the common B operand each, by
/// multicast. Returns false if the grid has no such pairs of tiles, or the tile cannot be halved. Requires
/// buffers with layouts.
bool share_by_pairs(KernelPlan&, const target::Target&);

}  // namespace zellige::plan
