// Builds the thread-value layouts of a block's MMA accumulators, A fragments and row statistics, by tiling an
// instruction's layout over warps.
//
//   EvaluatedLayout c(accumulators({16, 64}, {.n = 4}, row));  // row: the descriptor of mma.m16n8k16
//   c.at(37, 2)                                                // (9, 18): value 2 of thread 37
//
// Values are in the order of Fragment::d (block/fragment.hpp). The layouts' axes (context.hpp) are N (K for A), M and
// batch. If one matmul's accumulators become the next one's A, both layouts number the values equally, so that
// register i is rounded to element i of the operand.
#pragma once
#include <algorithm>

#include "plan/context.hpp"

namespace zellige::plan {

/// Number of warps along batch, M, N and K of a matmul. With k > 1, warps that differ only along K sum different
/// slices of K, and readers of the result add the k partial results.
struct WarpLayout {
  int b = 1, m = 1, n = 1, k = 1;
  int count() const { return b * m * n * k; }
  bool operator==(const WarpLayout&) const = default;
};

/// Number of adjacent N tiles that are assigned to a warp as one unit: 2 for m16n8k16. Together they are as wide as
/// the instruction's K, so that their rounded accumulators are one A operand and one ldmatrix loads their B.
inline int tiles_in_unit(const Instruction& mma) { return std::max(1, mma.k / mma.n); }

/// Returns whether the descriptor is an outer product by ordinary FMAs of a warp's threads
/// (target/outer_products.hpp). False for nullptr.
inline bool by_threads(const Instruction* mma) {
  return mma && mma->issuers == 32 && mma->a.space == Instruction::Space::smem;
}

/// Number of warps that issue the instruction together, with adjacent parts of M: 4 for wgmma, else 1.
inline int warps_of(const Instruction& mma) { return mma.issuers / 32; }

/// Row length, in elements, of the square matrices that a matrix load (ldmatrix) reads.
inline int matrix_side(const Instruction& load) { return load.a.layout.value_count() / load.a.bits; }

/// Returns whether two instructions have the same layout of C, whatever their operand types.
inline bool equivalent(const Instruction& a, const Instruction& b) {
  return a.m == b.m && a.n == b.n && a.k == b.k && a.c.layout == b.c.layout;
}

/// Returns the thread-value layout of the accumulators of a matmul's result C, whose shape is `c`. Warps that differ
/// only along K have the same elements. With slices > 1 each pass computes one of `slices` slices of N.
Context accumulators(const Shape& c, const WarpLayout&, const Instruction& mma, int slices = 1);

/// Returns the thread-value layout of a matmul's A fragments (A has shape `a`) that are rounded accumulators of
/// another matmul. `producer` are the warps of that matmul, and `warps` those of the matmul that reads A, which
/// split K among warps.k warps.
Context a_fragments(const Shape& a, const WarpLayout& producer, const WarpLayout& warps,
                    const Instruction& mma);

/// Returns the warps with which this layout of accumulators, or of their rows, was built.
WarpLayout warps(const Context&);
/// Returns whether the accumulators' instructions cover a tile of shape `padded`, so that the threads that have
/// them can also write the padding's zeros.
bool covers(const Context& accumulators, const Shape& padded);

/// Returns the thread-value layout of row statistics of accumulators: one value per row, replicated in every lane
/// that has elements of the row. Row reductions produce this layout, and elementwise nodes over the accumulators
/// read it.
Context lines(const Context& accumulators);
/// Returns the row of a thread's value of the accumulators, as an index into that thread's values of lines().
int line_of(const Context& accumulators, int value);
/// Returns whether each row is complete within one warp, so that shuffles alone reduce it.
bool whole_lines(const Context& accumulators);
/// Returns whether `rows` is the layout of these accumulators' row statistics, lines(accumulators), and each row is
/// complete within one warp.
bool lines_of(const Context& rows, const Context& accumulators);

/// Returns whether each thread has both matrices of each pair (2i, 2i + 1) along the last batch dimension, at the
/// same coordinates. A rotary embedding of such pairs then stays in registers.
bool whole_pairs(const Context& accumulators);
/// Returns the index of the thread's value at the same coordinate of the other matrix of the pair.
int other_of_pair(const Context& accumulators, int value);

/// Returns the coordinate (batch, M, N, K) of warp number `warp`. M is fastest, then batch, N and K.
WarpLayout warp_coordinate(const WarpLayout&, int warp);

}  // namespace zellige::plan
