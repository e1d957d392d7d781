// Applies an epilogue, such as bias and activation (epilogue.hpp), to an accumulator that covers a tile of a matrix.
//
//   const Part part{row, column, rows, columns};          // tile at (row, column) of a rows x columns matrix
//   apply_pairs<64>(epilogue, d, 0, thread, part);        // d = epilogue(d), columns 0 to 63, in pairs
//   apply_transposed(epilogue, d, thread, part);          // if d holds the transpose of the tile
#pragma once
#include <zellige/block/accumulator.hpp>
#include <zellige/block/epilogue.hpp>
#include <zellige/block/part.hpp>

namespace zellige {

/// Replaces each element x of `Columns` columns of d, from column `first` on, by epilogue(x); each call of the epilogue
/// processes two adjacent columns. `thread` is the index among the threads that hold d, `p` the position of d's tile in
/// the matrix. Elements outside the matrix are unchanged.
template <int Columns, class Epilogue, class Instruction>
ZELLIGE_CALL void apply_pairs(const Epilogue& epilogue, Accumulator<Instruction>& d, int first, int thread, Part p) {
  using D = Accumulator<Instruction>;
  constexpr int values = Columns * D::registers / D::columns;
  const int from = first * D::registers / D::columns;
#pragma unroll
  for (int i = from; i < from + values; i += 2) {
    const auto at = d.at(i, thread);
    const int r = p.row + at.row, c = p.column + at.column;
    if (r < p.rows && c < p.columns) {
      const Vec<float, 2> y = epilogue(Vec<float, 2>{d[i], d[i + 1]}, r, c);
      d[i] = y[0];
      d[i + 1] = y[1];
    }
  }
}

/// Replaces each element x of d by epilogue(x), where d holds the transpose of a tile: a row of d is a column of the
/// matrix. `thread` is the index among the threads that hold d, `p` the tile's position in the matrix. Elements outside
/// the matrix are unchanged.
template <class Epilogue, class Instruction>
ZELLIGE_CALL void apply_transposed(const Epilogue& epilogue, Accumulator<Instruction>& d, int thread, Part p) {
#pragma unroll
  for (int i = 0; i < d.registers; ++i) {
    const auto at = d.at(i, thread);
    const int r = p.row + at.column, c = p.column + at.row;
    if (r < p.rows && c < p.columns) d[i] = epilogue(d[i], r, c);
  }
}

}  // namespace zellige
