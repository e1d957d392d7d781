// Chooses the tile of a standalone matmul: of all that are legal (lower/product_tiles.hpp) the one whose sketch has the
// least expected time.
//
//   const ProductSize size{.m = 16, .n = 8192, .k = 8192, .dtype = DType::f16};
//   ranked_tiles(size, target).front()   // the fastest
#pragma once
#include "lower/lower.hpp"

namespace zellige::plan {

/// Returns the legal tiles of a matmul of which there is a plan, by expected time, the least first. Of equal ones the
/// smaller is first. Sizes that were asked for before are answered from a table of the process.
const std::vector<retile::ProductTile>& ranked_tiles(const ProductSize&, const target::Target&);

/// Returns lower(graph, target, declared), in which each matmul without a declared tile has the fastest.
Program lowered(const graph::KernelGraph&, const target::Target&, const retile::Tiling& declared = {});

}  // namespace zellige::plan
