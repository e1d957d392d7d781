// Puts the matmuls of a loop on warpgroups (wgmma) with tiles loaded by TMA, if the loop does nothing but
// multiply tiles that it loads, or if it is an attention's: two matmuls that are chained, so that the accumulators of the
// first, after elementwise work and rounding, are the A operand of the second and stay in registers.
//
//   s = q k            q: resident, loaded before the loop         k, v: a ring filled by TMA
//   p = round(f(s))    f: elementwise, with row statistics
//   o = o * r + p v
//
// A product's A may be weights of 4 or 8 bits instead, which threads load and widen in registers (kernel/widened.hpp).
//
// Each such matmul gets an instruction that reads its operands from shared memory, except p and weights, and all warps of the block
// are placed along M: of a chain each warpgroup has 64 rows of q, p and o. Later passes act on that instruction: `group`
// assigns tensor maps to the loads, `arrange_buffers` uses the layouts that wgmma reads, and `agents` splits the kernel
// into a producer and consumers.
//
// Runs after the pass `resolve_layouts`, which chooses the contiguous dimension of every tile.
#pragma once
#include <string>

#include "selection/select.hpp"
#include "selection/task.hpp"

namespace zellige::selection {

/// Sets wgmma instructions and warp layouts for the loop's matmuls and returns an empty string. If there is no such
/// matmul, if one of them cannot use wgmma, or if the loop does other work as well than that of a chain, changes nothing
/// and returns the reason, for a note.
std::string warpgroups(Selection&, const tile::TilePrograms&, const target::Target&);

/// Returns the reason why no producer can load the tiles of the loop's products by TMA, where each warp multiplies by mma.sync; an empty
/// string if one can: the target has TMA and no product of warpgroups, and the loop does nothing but multiply tiles of whole lines of
/// 128 bytes that it loads.
std::string product_tiles_by_tma(const Selection&, const tile::TilePrograms&, const target::Target&);

/// Returns the first matmul of the chain if the value of operator `node`, between the two matmuls, is kept in
/// registers, in the layout of that matmul's accumulators. Returns -1 if the value is evaluated wherever it
/// is read. These values are kept:
///
/// - the value of the second matmul's A operand, because the operand's registers are being read by the
///   second matmul of the preceding iteration;
/// - a value with several users that is expensive to recompute (it loads data or computes a tanh).
///
/// `Sections` are those of the selection's program.
int accumulators_to_keep_in(const Selection&, const tile::Sections&, int node);

/// Returns the instruction of one warp that describes the accumulators of a wgmma whose N is not a multiple of 16, so that
/// its tiles of 8 columns do not form pairs. Returns nullptr for all other instructions: Fragment's default instruction
/// describes the other wgmma.
const Instruction* single_tiles(const Instruction&);

/// Returns the layout in which threads leave the tile of weights `operand` that they widen, the A of a product by wgmma: that of the
/// accumulators of a product whose columns are its K.
kernel::Context widened_layout(const tile::Node& operand, const kernel::MatmulChoice&, const target::Target&);

/// Returns whether two instructions leave a result of shape `c` in the same registers of the same threads.
/// `row` is a wgmma that computes all matrices of a batch as adjacent columns of one matrix. `separate`
/// computes one matrix after another; the code that reads accumulators is written for it.
bool leaves_as(const Instruction& row, const Instruction& separate, const graph::Shape& c,
               const kernel::WarpLayout& warps);

/// Lets the two blocks of a cluster, whose output tiles are adjacent along M, each load half of their common
/// B operand by multicast. Returns false if the grid has no such pairs of tiles, or if the tile of B cannot
/// be halved. Requires that buffers have layouts.
bool share_by_pairs(kernel::Kernel&, Tasks&, const target::Target&);

}  // namespace zellige::selection
