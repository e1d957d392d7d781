// Tiles of a plain product: which part of it a block makes, with how many threads, and which operand's rows are the instruction's.
//
//   product_tiles({.m = 16, .n = 8192, .k = 8192, .dtype = DType::f16}, target).front()   // 64 x 16 x 64 of B's columns, turned
#pragma once
#include <vector>

#include "graph/graph.hpp"
#include "retile/tiling.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// The share of the multiprocessors that draw, by TMA, all that memory gives; measured on an H200.
inline constexpr double drawing = 0.73;

struct ProductSize {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  graph::DType dtype{};
  bool lines = true;  // of both operands begin where TMA may address them
};

/// Of a matmul whose shapes have been inferred.
ProductSize product_size(const graph::KernelGraph&, int op);

/// Heights of tiles, multiples of 16 of at most 256, that leave fewer rows empty than tiles of 128 do; none for up to 64 rows, which have
/// tiles of their own. 300: 160 and 112.
std::vector<std::int64_t> odd_rows(std::int64_t m);

/// Those that the target has instructions for, the one that is expected to take least first.
std::vector<retile::ProductTile> product_tiles(const ProductSize&, const target::Target&);

}  // namespace zellige::plan
