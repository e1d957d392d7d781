// Applies an epilogue, such as bias and activation (epilogue.hpp), to an accumulator that covers a tile of a matrix.
//
//   const Part part{row, column, rows, columns};          // its origin in a matrix of rows x columns
//   apply_pairs<64>(epilogue, d, 0, thread, part);        // d = epilogue(d), columns 0 to 63, in pairs
//   apply_transposed(epilogue, d, thread, part);          // d holds the matrix's transpose
#pragma once
#include <zellige/block/accumulator.hpp>
#include <zellige/block/epilogue.hpp>
#include <zellige/block/part.hpp>

namespace zellige {

/// Sets `Columns` columns of d, from column `first` on, to the epilogue of their values, two adjacent columns per call.
/// `thread` is the index among the threads that hold d, `p` the position of d's tile in the matrix. Elements outside
/// the matrix are unchanged.
template <int Columns, class Epilogue, class Instruction>
ZELLIGE_CALL void apply_pairs(const Epilogue& epilogue, Accumulator<Instruction>& d, int first, int thread,
                              Part p) {
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

/// Sets every element of d to the epilogue of its value, for a d that holds a transposed tile: d's rows are the
/// matrix's columns. `thread` is the index among the threads that hold d, `p` the tile's position in the matrix.
/// Elements outside the matrix are unchanged.
template <class Epilogue, class Instruction>
ZELLIGE_CALL void apply_transposed(const Epilogue& epilogue, Accumulator<Instruction>& d, int thread,
                                   Part p) {
#pragma unroll
  for (int i = 0; i < d.registers; ++i) {
    const auto at = d.at(i, thread);
    const int r = p.row + at.column, c = p.column + at.row;
    if (r < p.rows && c < p.columns) d[i] = epilogue(d[i], r, c);
  }
}

}  // namespace zellige
