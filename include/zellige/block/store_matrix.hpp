// Rounds an accumulator and stores it to shared memory by stmatrix, four 8x8 matrices at a time.
//
//   store_columns<half_t, 64>(tile, d, 0, thread);              // columns 0 to 63 of d; tile(row, column): an address
//   store_columns<half_t, 16, true>(transposed, d, 0, thread);  // if a column of d is contiguous in the tile
//
// The addresses are computed from layouts. Each lane passes to stmatrix the address of one row of an 8x8 matrix:
// stmatrix's destination layout gives the row, its source layout the thread and register that hold the row's first
// element, and the accumulator's layout the row and column of that element in d.
#pragma once
#include <zellige/atom/convert.hpp>
#include <zellige/atom/copy_atom.hpp>
#include <zellige/atom/stmatrix.hpp>
#include <zellige/block/accumulator.hpp>

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

/// Returns the row and column of an element of an Accumulator<Instruction>. It is the element whose address this thread
/// must pass to stmatrix when its warp stores the accumulator's first registers. `thread` is the index in the
/// warpgroup.
template <class T, class Store, class Instruction>
ZELLIGE_CALL AccumulatorAt addressed_element(int thread) {
  using D = Accumulator<Instruction>;
  using Atom = Copy_Atom<typename Store::Op, T>;
  constexpr int values = decltype(size<1>(typename Atom::ValLayoutSrc{}))::value,
                threads = decltype(size<0>(typename D::Traits::CLayout{}))::value;
  const auto holder = composition(right_inverse(typename Atom::ValLayoutSrc{}),
                                  layout<0>(typename Atom::ValLayoutDst{}));  // lane -> thread + 32 value
  const auto element = composition(D::coordinates(), Layout<Shape<_32, Int<values>>, Stride<_1, Int<threads>>>{});
  const auto at = D::coordinates()(thread / 32 * 32, 0) + composition(element, holder)(thread % 32);
  return {static_cast<int>(get<0>(at)), static_cast<int>(get<1>(at))};
}

/// Stores `Matrices` 8x8 matrices, rounded to T: the registers of d from number `first` on, two per matrix, go to the
/// columns of `tile` from `column` on. `thread` is the index among the threads that hold d.
template <class T, int Matrices, bool Transposed, class Tile, class Instruction>
ZELLIGE_CALL void store_matrices(const Tile& tile, const Accumulator<Instruction>& d, int first, int column,
                                 int thread) {
  using Store = StoreMatrix<Matrices, Transposed>;
#if defined(ZELLIGE_EMULATE)
  emulate::look_for_unwritten<4>(d.d + first, 8 * Matrices, emulate::Use::stores);
#endif
  uint32_t r[Matrices];
#pragma unroll
  for (int i = 0; i < Matrices; ++i) r[i] = pack<T>(d[first + 2 * i], d[first + 2 * i + 1]);
  const AccumulatorAt at = addressed_element<T, Store, Instruction>(thread);
  Store::store(tile(at.row, at.column + column), r);
}

/// Stores `Columns` columns of d, from column `first` on, rounded to T, to columns 0, 1, ... of `tile`. Called by all
/// threads that hold d; `thread` is the index among them. Transposed: a column of d is contiguous in `tile`.
template <class T, int Columns, bool Transposed = false, class Tile, class Instruction>
ZELLIGE_CALL void store_columns(const Tile& tile, const Accumulator<Instruction>& d, int first, int thread) {
  using D = Accumulator<Instruction>;
  constexpr int four = 8 * D::columns / D::registers;  // columns of four matrices, which are eight registers
  static_assert(2 * Columns % four == 0, "store_columns: whole matrices of 8 columns");
#pragma unroll
  for (int c = 0; c < Columns / four; ++c)
    store_matrices<T, 4, Transposed>(tile, d, first * 8 / four + 8 * c, four * c, thread);
  if constexpr (Columns % four != 0)
    store_matrices<T, 2, Transposed>(tile, d, first * 8 / four + 8 * (Columns / four), Columns / four * four, thread);
}

}  // namespace zellige
