// Rounds accumulators and stores them to shared memory by stmatrix, four 8x8 matrices at a time.
//
//   store_columns<half_t, 64>(tile, d, 0, thread);              // columns 0 to 63 of d; tile(row, column): an address
//   store_columns<half_t, 16, true>(transposed, d, 0, thread);  // if a column of d is contiguous in the tile
//
//   // values computed from runs 4 i to 4 i + 3 of a Fragment F
//   const FragmentAt at = addressed_run<SM90_U32x4_STSM_N, half_t, F>(4 * i, thread);
//   store_pairs<SM90_U32x4_STSM_N, half_t>(tile(at.m, at.n), values);
//
// A matrix is one run of adjacent columns of each lane. Each lane passes to stmatrix the address of one row of a matrix:
// stmatrix's destination layout gives the row, its source layout the thread and register that hold the row's first
// element, and the Fragment the row and column of that element in d.
#pragma once
#include <zellige/atom/convert.hpp>
#include <zellige/atom/copy_atom.hpp>
#include <zellige/atom/mma_atom.hpp>
#include <zellige/atom/stmatrix.hpp>
#include <zellige/block/fragment.hpp>

namespace zellige {

/// The stmatrix instruction that stores `Matrices` 8x8 matrices: `Op` is its CuTe operation, which has the operand
/// layouts, and store() calls it.
template <int Matrices, bool Transposed>
struct StoreMatrix;
#define ZELLIGE_STORE_MATRIX(matrices, transposed, op, call)                                         \
  template <>                                                                                        \
  struct StoreMatrix<matrices, transposed> {                                                         \
    using Op = op;                                                                                   \
    ZELLIGE_CALL static void store(any_pointer row, const uint32_t (&r)[matrices]) { call(row, r); } \
  };
ZELLIGE_STORE_MATRIX(2, false, SM90_U32x2_STSM_N, stmatrix_x2)
ZELLIGE_STORE_MATRIX(4, false, SM90_U32x4_STSM_N, stmatrix_x4)
ZELLIGE_STORE_MATRIX(2, true, SM90_U16x4_STSM_T, stmatrix_x2_trans)
ZELLIGE_STORE_MATRIX(4, true, SM90_U16x8_STSM_T, stmatrix_x4_trans)
#undef ZELLIGE_STORE_MATRIX

/// Returns the coordinates of an element of a Fragment F, among those of the thread's warp: the element whose address
/// lane `lane` must pass to stmatrix `Op` when its warp stores its first runs.
template <class T, class Op, class F>
ZELLIGE_CALL FragmentAt addressed_in_warp(int lane) {
  using Atom = Copy_Atom<Op, T>;
  using CLayout = typename MMA_Traits<typename F::Product>::CLayout;
  constexpr int values = decltype(size<1>(typename Atom::ValLayoutSrc{}))::value, tiles = values / F::values_per_tile;
  const auto holder = composition(right_inverse(typename Atom::ValLayoutSrc{}),
                                  layout<0>(typename Atom::ValLayoutDst{}));  // lane -> lane + 32 value
  const auto registers = make_layout(
      layout<0>(CLayout{}), make_layout(layout<1>(CLayout{}), Layout<Int<tiles>, Int<F::Row::m * F::Row::n>>{}));
  const auto coordinates =
      composition(make_identity_layout(Shape<Int<F::Row::m>, Int<F::Row::n * tiles>>{}), registers);
  const auto at = coordinates(0) + composition(coordinates, holder)(lane);
  return {0, static_cast<int>(get<0>(at)), static_cast<int>(get<1>(at))};
}

/// Returns the coordinates of the element of a Fragment F whose address this thread must pass to stmatrix when its warp
/// stores the accumulators' first runs. `thread` is the index among the threads that hold the Fragment.
template <class T, class Store, class F>
ZELLIGE_CALL FragmentAt addressed_element(int thread) {
  const FragmentAt at = addressed_in_warp<T, typename Store::Op, F>(thread % 32);
  return {0, thread / 32 * F::Row::m + at.m, at.n};
}

/// Returns the coordinates of the element of a Fragment F whose address this thread must pass to stmatrix `Op` when its
/// warp stores the runs from number `first` on, one per matrix. `first` is a multiple of the number of matrices, `thread`
/// the thread's number in the block.
template <class Op, class T, class F>
ZELLIGE_CALL FragmentAt addressed_run(int first, int thread) {
  static_assert(F::my_n * F::width * F::tile_runs % detail::copy_row_of<Op>::value.matrices == 0,
                "addressed_run: the matrices of an stmatrix lie in one tile's rows");
  static_assert(F::width * F::tile_runs % detail::copy_row_of<Op>::value.matrices == 0 || F::warps_n == 1,
                "addressed_run: the matrices of an stmatrix are adjacent");
  const int warp = thread / 32;
  const FragmentAt at = addressed_in_warp<T, Op, F>(thread % 32), run = F::at(first, 0, 0);
  return {run.b + F::warp_b(warp), run.m + F::warp_m(warp) * F::Row::m + at.m,
          run.n + F::warp_n(warp) * F::width * F::Row::n + at.n};
}

/// Stores pairs of neighbours, rounded to T, by stmatrix `Op`: pairs[i * Step] of each lane is a part of matrix i. `row` is
/// the address of the element that addressed_run() returns. Called by all threads of a warp.
template <class Op, class T, int Step = 1>
ZELLIGE_CALL void store_pairs(any_pointer row, const Vec<float, 2>* pairs) {
  constexpr CopyRow instruction = detail::copy_row_of<Op>::value;
  constexpr int matrices = instruction.matrices;
#if defined(ZELLIGE_EMULATE)
  for (int i = 0; i < matrices; ++i) emulate::look_for_unwritten<4>(&pairs[i * Step], 8, emulate::Use::stores);
#endif
  uint32_t r[matrices];
#pragma unroll
  for (int i = 0; i < matrices; ++i) r[i] = pack<T>(pairs[i * Step][0], pairs[i * Step][1]);
  StoreMatrix<instruction.matrices, instruction.kind == CopyRow::Kind::to_columns>::store(row, r);
}

/// Stores `Matrices` 8x8 matrices, rounded to T: the runs of d from number `first` on, one per matrix, go to the
/// columns of `tile` from `column` on. `thread` is the index among the threads that hold d.
template <class T, int Matrices, bool Transposed, class Tile, class F>
ZELLIGE_CALL void store_matrices(const Tile& tile, F& d, int first, int column, int thread) {
  using Store = StoreMatrix<Matrices, Transposed>;
#if defined(ZELLIGE_EMULATE)
  emulate::look_for_unwritten<4>(d.pair(first), 8 * Matrices, emulate::Use::stores);
#endif
  uint32_t r[Matrices];
#pragma unroll
  for (int i = 0; i < Matrices; ++i) r[i] = pack<T>(d.pair(first + i)[0], d.pair(first + i)[1]);
  const FragmentAt at = addressed_element<T, Store, F>(thread);
  Store::store(tile(at.m, at.n + column), r);
}

/// Stores `Columns` columns of d, from column `first` on, rounded to T, to columns 0, 1, ... of `tile`. Called by all
/// threads that hold d; `thread` is the index among them. Transposed: a column of d is contiguous in `tile`.
template <class T, int Columns, bool Transposed = false, class Tile, class F>
ZELLIGE_CALL void store_columns(const Tile& tile, F& d, int first, int thread) {
  constexpr int each = F::Row::n / F::tile_runs, four = 4 * each;  // columns of a run, of four
  static_assert(2 * Columns % four == 0, "store_columns: whole matrices of 8 columns");
  static_assert(F::lines == F::tile_runs && F::warps_b == 1 && F::warps_n == 1,
                "store_columns: a warp has all columns of one tile's rows");
#pragma unroll
  for (int c = 0; c < Columns / four; ++c)
    store_matrices<T, 4, Transposed>(tile, d, first / each + 4 * c, four * c, thread);
  if constexpr (Columns % four != 0)
    store_matrices<T, 2, Transposed>(tile, d, first / each + Columns / four * 4, Columns / four * four, thread);
}

}  // namespace zellige
