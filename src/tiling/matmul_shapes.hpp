// The tiles of matmuls for which a target has instructions: the output tile of a block, the K per iteration, the number of
// threads, and whether A and B are swapped.
//
//   const MatmulSize size{.m = 16, .n = 8192, .k = 8192, .dtype = DType::f16};
//   matmul_shapes(size, target)   // has m x n x k = 64 x 16 x 64 with A and B swapped
#pragma once
#include <vector>

#include "graph/graph.hpp"
#include "graph/infer.hpp"
#include "retile/tiling.hpp"
#include "target/target.hpp"

namespace zellige::tiling {

/// The problem size of a batched matmul, and what else of it decides how fast a tile is.
struct MatmulSize {
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  graph::DType dtype{};
  bool lines = true;                        // the rows of both operands are aligned for TMA
  bool tf32 = false;                        // the operands are rounded to tf32
  bool a_along_k = true, b_along_k = true;  // the operand is contiguous along K
  bool a_batched = true, b_batched = true;  // the operand has a matrix for each of the batch
  auto operator<=>(const MatmulSize&) const = default;
};

/// Returns the size of a matmul with these operands and the shapes of their matrices.
MatmulSize matmul_size(const graph::MatmulShapes&, const graph::KernelTensor& a, const graph::KernelTensor& b,
                       bool tf32, bool lines);
/// Returns the size of operator `op`, a matmul of a graph whose shapes have been inferred. Its rows are taken to be
/// aligned if the strides of contiguous ones are.
MatmulSize matmul_size(const graph::KernelGraph&, int op);

/// Returns tile heights (numbers of rows) for a matmul with m rows: multiples of 8, at most 256, with which no more
/// unused rows are computed than with tiles of 128 rows. For example 152, 160 and 112 for 300 rows; 192 and 128 for 384.
/// Returns an empty list for m <= 64; matmul_shapes() has other candidates there.
std::vector<std::int64_t> odd_rows(std::int64_t m);

/// Returns tiles for matmuls of which one multiplies what another computes, with `m` rows (0: different ones): on FMA units,
/// or on tensor cores with operands of 16 `width` bits.
std::vector<retile::MatmulTile> chain_shapes(std::int64_t m, bool fma, int width);

/// Returns the tiles for which the target has instructions, smaller ones first; at least one. Tiles that extend beyond
/// the matrix in the same way are one.
std::vector<retile::MatmulTile> matmul_shapes(const MatmulSize&, const target::Target&);

}  // namespace zellige::tiling
