// Applies an epilogue (epilogue.hpp) to a matmul's accumulators and stores them to a row-major matrix in global memory.
//
//   store_fragment(d, epilogue, C, ldc, {m0, n0, M, N}, warp, lane);      // d is the tile at (m0, n0) of the M x N C
#pragma once
#include <zellige/block/fragment.hpp>
#include <zellige/block/part.hpp>
#include <zellige/block/tile.hpp>

namespace zellige {

/// Stores epilogue(x) of every element x of d, rounded to T, to a tile of `matrix`, which has `pitch` elements per
/// row. p has the tile's position and the size of the matrix. Elements outside the matrix are skipped. An even pitch
/// allows two elements per access.
template <class F, class Epilogue, class T>
ZELLIGE_CALL void store_fragment(F& d, const Epilogue& epilogue, gmem<T> matrix, int64_t pitch, Part p, int warp,
                                 int lane) {
  const bool pairs = pitch % 2 == 0;
#pragma unroll
  for (int i = 0; i < d.pairs; ++i) {
    const FragmentAt at = d.at(i, warp, lane);
    const int m = p.row + at.m, n = p.column + at.n;
    if (m >= p.rows || n >= p.columns) continue;
    Vec<float, 2> x{{epilogue(d.pair(i)[0], m, n), 0.0f}};
    if (n + 1 < p.columns) x[1] = epilogue(d.pair(i)[1], m, n + 1);
    const gmem<T> to = matrix + m * pitch + n;
    if (pairs && n + 1 < p.columns) {
      write<2>(to, x);
    } else {
      write<1>(to, x);
      if (n + 1 < p.columns) write<1>(to + 1, x, 1);
    }
  }
}

}  // namespace zellige
