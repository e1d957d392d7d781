// Swaps A and B of a matmul (C^T = B^T A^T), so that the weights' columns fill the 64 rows of wgmma's
// accumulator. It applies to small M, and to M that is no multiple of 64.
//
//   if (auto block = swap_operands(*part.block, target)) ...    // *block: the rewritten block graph
//
// With M = 16, (16 x K) (K x 64) fills a quarter of an m64n64k16, but (64 x K) (K x 16) fills an m64n16k16. Both
// operands are loaded by TMA. Tiles are permuted where they are loaded and stored, which moves no data, because a
// permuted tile is a view of the same memory. The tensors of the given block graph must have shapes.
#pragma once
#include <optional>

#include "rewrite/graph_words.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// Returns the block graph with A and B swapped. Returns nullopt unless all of these hold:
///
/// - wgmma has an instruction with N = M, where M is the number of rows of the block's tile;
/// - M is no multiple of 64 and, if it is less than 64, the grid does not split the rows;
/// - the tile has 64 or 128 columns;
/// - the grid has enough blocks to saturate DRAM;
/// - the loop only multiplies the tiles that it loads, and everything after the loop is elementwise.
std::optional<BlockGraph> swap_operands(const BlockGraph&, const target::Target&);

}  // namespace zellige::fuse
