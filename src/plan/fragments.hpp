// Contexts in which matrix instructions hold their operands, tiled over warps from the layouts of the instructions' rows.
//
//   Held c(accumulators({16, 64}, {.n = 4}, row));  // values in the order of Fragment::d
//   c.at(37, 2)                                     // (9, 18): of thread 37, value 2
//
// Items are (N, M, batch). Values of `accumulators` and of `a_fragments` over the same warps are counted alike, since one is
// rounded, register for register, into the other (block/fragment.hpp, Operand).
#pragma once
#include <algorithm>

#include "plan/context.hpp"

namespace zellige::plan {

/// Warps along batch, M, N and K of a matmul. With k > 1 every such warp sums its own slices of K, and the readers of
/// the result add the k partial products.
struct WarpLayout {
  int b = 1, m = 1, n = 1, k = 1;
  int count() const { return b * m * n * k; }
  bool operator==(const WarpLayout&) const = default;
};

/// Tiles of N that a warp takes together: as many as one tile of K is wide. Their accumulators, rounded, are one A
/// operand, and the B of both comes in one load of matrices.
inline int tiles_in_unit(const Instruction& mma) { return std::max(1, mma.k / mma.n); }

/// Whether it stands for ordinary multiply-adds of a warp's threads (target/outer_products.hpp); nullptr: it does not.
inline bool by_threads(const Instruction* mma) {
  return mma && mma->issuers == 32 && mma->a.space == Instruction::Space::smem;
}

/// Warps that issue it together; they lie one behind another along M.
inline int warps_of(const Instruction& mma) { return mma.issuers / 32; }

/// Of the square matrices that one instruction loads, whose rows threads address: elements of a row.
inline int matrix_side(const Instruction& load) { return load.a.layout.value_count() / load.a.bits; }

/// Whether two products leave C alike, whatever they multiply.
inline bool alike(const Instruction& a, const Instruction& b) {
  return a.m == b.m && a.n == b.n && a.k == b.k && a.c.layout == b.c.layout;
}

/// C of a block's product in tiles of `mma`, the warps of K each a whole C; N in so many slices, a turn each.
Context accumulators(const Shape& c, const WarpLayout&, const Instruction& mma, int slices = 1);

/// A of a block's product, its fragments held like the accumulators of a product over `held` that has A's shape;
/// the product itself runs on `warps`, slices of K over warps.k of them.
Context a_fragments(const Shape& a, const WarpLayout& held, const WarpLayout& warps, const Instruction& mma);

/// Of accumulators, or of their lines.
WarpLayout warps(const Context&);
/// Whether accumulators' tiles reach as far as a tile with its padding: who writes zeros there holds them.
bool covers(const Context& accumulators, const Shape& padded);

/// The rows of accumulators: one value for each row that a thread has elements of, in all lanes that have some. Sums and maxima of
/// rows are left so, and elementwise nodes over the accumulators read them from there.
Context lines(const Context& accumulators);
/// Which of its thread's rows a value of accumulators lies in.
int line_of(const Context& accumulators, int value);
/// Whether each row is in one warp, so that its lanes alone make a sum of it.
bool whole_lines(const Context& accumulators);
/// Whether `rows` are these accumulators' lines.
bool lines_of(const Context& rows, const Context& accumulators);

/// Whether each thread holds both matrices of a batch's pairs, along its last dimension, and which value lies where another does in
/// the other.
bool whole_pairs(const Context& accumulators);
int other_of_pair(const Context& accumulators, int value);

/// Which of each of its dimensions a warp is: M runs fastest, then batch, N and K.
WarpLayout warp_coordinate(const WarpLayout&, int warp);

}  // namespace zellige::plan
