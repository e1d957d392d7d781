// Applies an epilogue, such as bias and activation (epilogue.hpp), to an accumulator that covers a tile of a matrix.
//
//   const Part part{row, column, rows, columns};          // tile at (row, column) of a rows x columns matrix
//   apply_pairs<64>(epilogue, d, 0, thread, part);        // d = epilogue(d), columns 0 to 63, in pairs
//   apply_transposed(epilogue, d, thread, part);          // if d holds the transpose of the tile
#pragma once
#include <zellige/block/epilogue.hpp>
#include <zellige/block/fragment.hpp>
#include <zellige/block/part.hpp>

namespace zellige {

/// Replaces each element x of `Columns` columns of d, from column `first` on, by epilogue(x); each call of the epilogue
/// processes two adjacent columns. `thread` is the index among the threads that hold d, `p` the position of d's tile in
/// the matrix. Elements outside the matrix are unchanged.
template <int Columns, class Epilogue, class F>
ZELLIGE_CALL void apply_pairs(const Epilogue& epilogue, F& d, int first, int thread, Part p) {
  constexpr int pairs = Columns * F::pairs / F::columns;
  const int from = first * F::pairs / F::columns;
#pragma unroll
  for (int i = from; i < from + pairs; ++i) {
    const FragmentAt at = d.at(i, thread / 32, thread % 32);
    const int r = p.row + at.m, c = p.column + at.n;
    if (r < p.rows && c < p.columns) {
      float* const x = d.pair(i);
      const Vec<float, 2> y = epilogue(Vec<float, 2>{x[0], x[1]}, r, c);
      x[0] = y[0];
      x[1] = y[1];
    }
  }
}

/// Replaces each element x of d by epilogue(x), where d holds the transpose of a tile: a row of d is a column of the
/// matrix. `thread` is the index among the threads that hold d, `p` the tile's position in the matrix. Elements outside
/// the matrix are unchanged.
template <class Epilogue, class F>
ZELLIGE_CALL void apply_transposed(const Epilogue& epilogue, F& d, int thread, Part p) {
#pragma unroll
  for (int i = 0; i < F::pairs; ++i)
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      const FragmentAt at = d.at(i, thread / 32, thread % 32);
      const int r = p.row + at.n + v, c = p.column + at.m;
      if (r < p.rows && c < p.columns) d.pair(i)[v] = epilogue(d.pair(i)[v], r, c);
    }
}

}  // namespace zellige
