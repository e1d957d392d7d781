// Rounds accumulators and stores them to shared memory by stmatrix, four 8x8 matrices at a time.
//
//   store_columns<half_t, 64>(tile, d, 0, thread);              // columns 0 to 63 of d; tile(row, column): an address
//   store_columns<half_t, 16, true>(transposed, d, 0, thread);  // if a column of d is contiguous in the tile
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

/// Returns the coordinates of an element of a Fragment F. It is the element whose address this thread must pass to
/// stmatrix when its warp stores the accumulators' first runs. `thread` is the index among the threads that hold d.
template <class T, class Store, class F>
ZELLIGE_CALL FragmentAt addressed_element(int thread) {
  using Atom = Copy_Atom<typename Store::Op, T>;
  using CLayout = typename MMA_Traits<typename F::Product>::CLayout;
  constexpr int values = decltype(size<1>(typename Atom::ValLayoutSrc{}))::value, tiles = values / F::values_per_tile;
  const auto holder = composition(right_inverse(typename Atom::ValLayoutSrc{}),
                                  layout<0>(typename Atom::ValLayoutDst{}));  // lane -> lane + 32 value
  const auto registers = make_layout(
      layout<0>(CLayout{}), make_layout(layout<1>(CLayout{}), Layout<Int<tiles>, Int<F::Row::m * F::Row::n>>{}));
  const auto coordinates =
      composition(make_identity_layout(Shape<Int<F::Row::m>, Int<F::Row::n * tiles>>{}), registers);
  const auto at = coordinates(0) + composition(coordinates, holder)(thread % 32);
  return {0, thread / 32 * F::Row::m + static_cast<int>(get<0>(at)), static_cast<int>(get<1>(at))};
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
