// Builds the thread-value layouts of a block's MMA accumulators, A fragments and row statistics, by tiling an
// instruction's layout over warps.
//
//   // mma: the descriptor of mma.m16n8k16; 4 warps along N
//   EvaluatedLayout c(accumulators({16, 64}, {.n = 4}, mma));
//   c.at(37, 2)            // (9, 18): value 2 of thread 37 is the element in row 9 and column 18 of C
//
// A thread's values are in the order of Fragment::d (block/fragment.hpp). If the accumulators of one matmul become A
// of the next one, both layouts number a thread's values equally, so that accumulator i is rounded to element i of the
// A fragment.
//
// Context::items(axis) numbers axes from the last dimension of C or A: axis 0 is N (K for A), axis 1 is M, axis 2 is
// the batch. The coordinate that at() returns ends with (row, column): (M, N), or (M, K) for A.
#pragma once
#include <algorithm>

#include "kernel/context.hpp"

namespace zellige::kernel {

/// Number of warps along batch, M, N and K of a matmul. With k > 1, warps that differ only along K sum different
/// slices of K, and readers of the result add the k partial results.
struct WarpLayout {
  int b = 1, m = 1, n = 1, k = 1;
  int count() const { return b * m * n * k; }
  auto operator<=>(const WarpLayout&) const = default;
};

/// Number of adjacent instruction tiles along N that a warp gets as one unit: 2 for m16n8k16 and m16n8k32, 1 for m16n8k8.
/// One ldmatrix loads the B fragments of a unit. A unit of m16n8k16 is as wide as its K, so that rounded accumulators of a
/// unit are one A operand of another matmul (leaves_operand).
inline int tiles_in_unit(const Instruction& mma) { return mma.k > mma.n ? 2 : 1; }

/// Number of warps whose threads have the accumulators of one instruction, each of adjacent rows: 4 for wgmma, 1 for all
/// others.
inline int warps_of(const Instruction& mma) { return mma.c.layout.thread_count() / 32; }

/// Number of rows of the matrices that a matrix load (ldmatrix) reads.
inline int matrix_rows(const Instruction& load) { return load.a.layout.value_count() / load.a.bits; }
/// Number of an operand's elements in such a row.
inline int matrix_columns(const Instruction& load, const Instruction& mma) { return 8 * load.a.alignment / mma.a.bits; }

/// Returns whether the accumulators that `from` leaves in a unit are, rounded, the A fragment of `to`: element by
/// element in the same thread, in the same order.
bool leaves_operand(const Instruction& from, const Instruction& to);

/// Returns whether two MMA instructions have the same shape and the same layout of C. Their operand types may differ.
inline bool equivalent(const Instruction& a, const Instruction& b) {
  return a.m == b.m && a.n == b.n && a.k == b.k && a.c.layout == b.c.layout;
}

/// Returns the thread-value layout of a matmul's accumulators; `c` is the shape of its result. Warps that differ only
/// along K have the same elements. Each pass computes one of `slices` parts of N.
Context accumulators(const Shape& c, const WarpLayout&, const Instruction& mma, int slices = 1);

/// Returns the thread-value layout of the A fragments of a matmul whose A operand, of shape `a`, is the rounded
/// accumulators of another matmul. `producer` says how the block's warps divide that other matmul, and `warps` how
/// they divide the matmul that reads A, whose K is divided among warps.k warps.
Context a_fragments(const Shape& a, const WarpLayout& producer, const WarpLayout& warps, const Instruction& mma);

/// Returns the arrangement of warps with which a layout of accumulators, or of their row statistics, was built.
WarpLayout warps(const Context&);
/// Returns whether the instructions of the accumulators cover a tile of shape `padded`. If so, the threads that have
/// the accumulators can also write the zeros of the tile's padding.
bool covers(const Context& accumulators, const Shape& padded);

/// Returns the thread-value layout of row statistics: one value per row of the accumulators, or of a layout of rows
/// (summands()), replicated in every lane that has elements of the row. Row reductions return their results in this
/// layout, and elementwise nodes over the accumulators or rows read them in it.
Context lines(const Context& accumulators);
/// Returns which of the thread's values in the layout lines() is for the row of its accumulator number `value`.
int line_of(const Context& accumulators, int value);
/// Returns whether each row of the accumulators is complete within several lanes of one warp, so that shuffles alone can
/// reduce it. The layout may also be one of rows (summands()) that run along the last dimension.
bool whole_lines(const Context& accumulators);
/// Returns whether `rows` is lines(accumulators), the layout of their row statistics, and whole_lines(accumulators)
/// is true: each row is complete within one warp.
bool lines_of(const Context& rows, const Context& accumulators);

/// Returns whether each thread has the same rows and columns of the two matrices 2i and 2i + 1 of the last batch
/// dimension, for every i. A rotary embedding of these pairs of matrices then stays in registers.
bool whole_pairs(const Context& accumulators);
/// Returns the index of the thread's accumulator that has the same row and column as accumulator number `value` of the
/// thread, but belongs to the other matrix of a pair. Matrices 2i and 2i + 1 of the last batch dimension are a pair.
int other_of_pair(const Context& accumulators, int value);

/// Returns the coordinate of a warp along batch, M, N and K. Warps are numbered along M first, then batch, N and K.
WarpLayout warp_coordinate(const WarpLayout&, int warp);

}  // namespace zellige::kernel
