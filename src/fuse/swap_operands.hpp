// Swaps A and B of a small-M matmul, or of one whose rows do not fill a warpgroup (C^T = B^T A^T), so that
// the weights' columns fill the 64 rows of wgmma's accumulator.
//
//   if (auto block = swap_operands(*part.block)) ...    // a block graph whose tensors have shapes
//
// (16 x K) (K x 64) fills a quarter of an m64n64k16; (64 x K) (K x 16) fills an m64n16k16, and both operands
// are loaded by TMA. Tiles are permuted where they are loaded and stored, which moves no data: a permuted
// tile is a view of the same memory.
#pragma once
#include <optional>

#include "graph/graph.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// Returns nullopt unless wgmma has an instruction with N equal to the rows, the rows are no multiple of 64
/// and (if fewer than 64) are not split by the grid, the columns are 64 or 128, the grid has enough blocks to
/// saturate DRAM, the loop only multiplies the tiles it loads, and everything after the loop is elementwise.
std::optional<graph::BlockGraph> swap_operands(const graph::BlockGraph&, const target::Target&);

}  // namespace zellige::fuse
