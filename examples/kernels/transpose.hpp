// Transpose of a matrix of 16-bit elements, of any size: y(c, r) = x(r, c).
//
//   transpose<half_t, 64, 1, true><<<dim3(ceil_div(columns, 64), ceil_div(rows, 64)), 128, 8192>>>(
//       x, y, rows, columns, pitch_x, pitch_y);
//
// A block moves a tile of Rows x 64 Slabs through shared memory: 16 bytes of a row in, ldmatrix transposes, 16 bytes of
// a column out. Aligned: rows, columns and pitches are multiples of 8 and both matrices start at multiples of 16 bytes;
// otherwise elements go in and out one by one.
//
// A thread's four registers of one ldmatrix become 8 neighbours of a row of y if matrix i takes the rows 8 a + 2 i + b
// of x, a = 0..3, b = 0, 1. The layout puts these eight rows one behind the other, and the swizzle then finds each in
// banks of its own.
#pragma once
#include <zellige/block.hpp>

namespace zellige::kernels {

template <int Rows, int Slabs>
using TransposeLayout = Layout<Shape<Shape<_2, _4, _4, Int<Rows / 32>>, _64, Int<Slabs>>,
                               Stride<Stride<_64, _512, _128, _2048>, _1, Int<Rows * 64>>>;

template <class T, int Rows, int Slabs, bool Aligned>
__global__ void __launch_bounds__(128)
    transpose(gmem<const T> x, gmem<T> y, int rows, int columns, int64_t pitch_x, int64_t pitch_y) {
  static_assert(sizeof(T) == 2 && Rows % 32 == 0);
  constexpr int chunks = 8 * Slabs;  // of 8 elements in a row of the tile
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int row0 = static_cast<int>(blockIdx.y) * Rows, column0 = static_cast<int>(blockIdx.x) * 64 * Slabs;
  const auto tile = shared_tile<T>("tile", 0, Rows * 64 * Slabs, composition(Swizzle<3, 3, 3>{}, TransposeLayout<Rows, Slabs>{}));

#pragma unroll
  for (int i = 0; i < Rows * chunks / 128; ++i) {
    const int chunk = (tid + i * 128) % chunks, r = (tid + i * 128) / chunks;
    const int row = row0 + r, column = column0 + chunk * 8;
    if constexpr (Aligned) {
      const bool inside = row < rows && column < columns;
      cp_async<16>(tile(r, chunk % 8 * 8, chunk / 8), inside ? x + row * pitch_x + column : x, inside ? 16 : 0);
    } else {
      Vec<T, 8> v;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        v[j] = row < rows && column + j < columns ? load_once<1>(x + row * pitch_x + column + j)[0] : T(0.0f);
      store(tile(r, chunk % 8 * 8, chunk / 8), v);
    }
  }
  if constexpr (Aligned) {
    cp_async_commit();
    cp_async_wait<0>();
  }
  __syncthreads();

#pragma unroll
  for (int c = warp; c < chunks; c += 4)
#pragma unroll
    for (int band = 0; band < Rows / 32; ++band) {
      const int r = band * 32 + lane % 8 / 2 * 8 + lane / 8 * 2 + lane % 2;
      uint32_t column[4];
      ldmatrix_x4_trans(column, tile(r, c % 8 * 8, c / 8));
      const int to_row = column0 + c * 8 + lane / 4, to_column = row0 + band * 32 + lane % 4 * 8;
      if (to_row >= columns || to_column >= rows) continue;
      const Vec<T, 8> v = bit_cast<Vec<T, 8>>(column);
      const gmem<T> to = y + to_row * pitch_y + to_column;
      if constexpr (Aligned) {
        store(to, v);
      } else {
#pragma unroll
        for (int j = 0; j < 8; ++j)
          if (to_column + j < rows) to[j] = v[j];
      }
    }
}

}  // namespace zellige::kernels
