// Products of few rows, or of rows that do not fill a warpgroup's, turned: the columns of the weights become the rows of wgmma's
// accumulator.
//
//   if (auto block = turned(*part.block)) ...    // of a block graph whose tensors have shapes
//
// (16 x K) (K x 64) fills a quarter of an m64n64k16; (64 x K) (K x 16) fills an m64n16k16, and both operands come by TMA. Tiles are
// permuted where they are loaded and stored, which moves nothing: a permuted tile is the same memory seen otherwise.
#pragma once
#include <optional>

#include "graph/graph.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// None where wgmma has no instruction of as many columns as there are rows; where the rows are a multiple of its own 64, or fewer and cut
/// by the grid; where the columns are not 64 or 128; where so few blocks would not draw all that memory gives; where the loop does more
/// than multiply what it loads; where a step after it is not elementwise.
std::optional<graph::BlockGraph> turned(const graph::BlockGraph&, const target::Target&);

}  // namespace zellige::fuse
