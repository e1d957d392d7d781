// Tiles of a standalone matmul: the output tile of a block, its number of threads, and which operand's rows
// are the instruction's M.
//
//   product_tiles({.m = 16, .n = 8192, .k = 8192, .dtype = DType::f16}, target).front()   // 64 x 16 x 64, A and B swapped
#pragma once
#include <vector>

#include "graph/graph.hpp"
#include "retile/tiling.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// The share of the multiprocessors that saturates DRAM with TMA loads; measured on an H200.
inline constexpr double dram_saturating_fraction = 0.73;

struct ProductSize {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  graph::DType dtype{};
  bool lines = true;  // the rows of both operands are aligned for TMA
};

/// The size of a matmul whose shapes have been inferred.
ProductSize product_size(const graph::KernelGraph&, int op);

/// The shortest loop in which pairs of blocks, which load half each of B, pay for setting up a cluster.
inline constexpr std::int64_t min_iterations_of_pairs = 64;
/// Returns whether pairs pay for m x n tiles: B is also two thirds of the loads. An H200 then took 0.6 to 0.8 of the
/// time, otherwise 1.01 to 1.03 with rings of the same depth (docs/log.md).
inline bool pairs_pay(std::int64_t m, std::int64_t n, std::int64_t iterations) {
  return iterations >= min_iterations_of_pairs && n >= 2 * m;
}

/// Tile heights, multiples of 8 of at most 256, that waste fewer rows than tiles of 128; none for up to 64
/// rows, which have tiles of their own. 300: 152, 160 and 112.
std::vector<std::int64_t> odd_rows(std::int64_t m);

/// The tiles for which the target has instructions, the least estimated time first.
std::vector<retile::ProductTile> product_tiles(const ProductSize&, const target::Target&);

}  // namespace zellige::plan
