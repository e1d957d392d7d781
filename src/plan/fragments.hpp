// Thread-value layouts in which matrix instructions hold their operands: the instructions' layouts, tiled
// over warps.
//
//   EvaluatedLayout c(accumulators({16, 64}, {.n = 4}, row));  // values in the order of Fragment::d
//   c.at(37, 2)                                     // (9, 18): value 2 of thread 37
//
// Items are (N, M, batch). Values of `accumulators` and of `a_fragments` over the same warps are numbered
// equal, since one is rounded into the other, register for register (block/fragment.hpp, Operand).
#pragma once
#include <algorithm>

#include "plan/context.hpp"

namespace zellige::plan {

/// Warps along batch, M, N and K of a matmul. With k > 1 each of these warps sums its own slices of K, and
/// the users of the result add the k partial results.
struct WarpLayout {
  int b = 1, m = 1, n = 1, k = 1;
  int count() const { return b * m * n * k; }
  bool operator==(const WarpLayout&) const = default;
};

/// The number of N tiles that a warp takes together: as wide as one tile of K. Their accumulators, rounded,
/// are one A operand, and the B of both comes from one ldmatrix.
inline int tiles_in_unit(const Instruction& mma) { return std::max(1, mma.k / mma.n); }

/// Returns whether the descriptor represents FMAs of a warp's threads (target/outer_products.hpp); false for
/// nullptr.
inline bool by_threads(const Instruction* mma) {
  return mma && mma->issuers == 32 && mma->a.space == Instruction::Space::smem;
}

/// Number of warps that issue it together; they are adjacent along M.
inline int warps_of(const Instruction& mma) { return mma.issuers / 32; }

/// Row length, in elements, of the square matrices that a matrix load reads.
inline int matrix_side(const Instruction& load) { return load.a.layout.value_count() / load.a.bits; }

/// Returns whether two instructions have the same layout of C, whatever their operand types.
inline bool equivalent(const Instruction& a, const Instruction& b) {
  return a.m == b.m && a.n == b.n && a.k == b.k && a.c.layout == b.c.layout;
}

/// C of a block's matmul in tiles of `mma`, each of the warps along K with a whole C; N in `slices` slices,
/// one per turn.
Context accumulators(const Shape& c, const WarpLayout&, const Instruction& mma, int slices = 1);

/// A of a block's matmul, with fragments distributed like the accumulators of a matmul over `producer` with A's
/// shape; the matmul itself runs on `warps`, its slices of K over warps.k of them.
Context a_fragments(const Shape& a, const WarpLayout& producer, const WarpLayout& warps,
                    const Instruction& mma);

/// The warps of accumulators or of their rows.
WarpLayout warps(const Context&);
/// Returns whether the accumulators' tiles cover a tile with its padding, so that these threads can write its
/// zeros.
bool covers(const Context& accumulators, const Shape& padded);

/// The rows of accumulators: one value per row in every lane that has elements of it. Row reductions leave
/// their results in this layout, and elementwise nodes over the accumulators read them from it.
Context lines(const Context& accumulators);
/// The row of a value of the accumulators, as an index into its thread's rows.
int line_of(const Context& accumulators, int value);
/// Returns whether each row is within one warp, so that its lanes alone can reduce it.
bool whole_lines(const Context& accumulators);
/// Returns whether `rows` are the rows of these accumulators.
bool lines_of(const Context& rows, const Context& accumulators);

/// Returns whether each thread holds both matrices of each pair along the batch's last dimension; and the
/// index of the corresponding value in the other matrix.
bool whole_pairs(const Context& accumulators);
int other_of_pair(const Context& accumulators, int value);

/// The warp's coordinate: M is fastest, then batch, N and K.
WarpLayout warp_coordinate(const WarpLayout&, int warp);

}  // namespace zellige::plan
