// Transposes a matrix of 16-bit elements, of any size: y(c, r) = x(r, c).
//
//   // tiles of 128 rows x 2 slabs of 64 columns, 128 threads, Aligned
//   transpose<half_t, 128, 2, 128, true><<<dim3(ceil_div(columns, 128), ceil_div(rows, 128)), 128, 32768>>>(
//       x, y, rows, columns, pitch_x, pitch_y);
//
// A block moves a tile of Rows x 64 Slabs elements through shared memory (128 * Rows * Slabs bytes). It loads 16
// bytes of a row at a time, transposes with ldmatrix, and stores 16 bytes of a row of y at a time. Aligned requires
// that rows, columns and pitches are multiples of 8, and that both matrices start at multiples of 16 bytes. Without
// Aligned, elements are loaded and stored one by one.
//
// To store 16 bytes, a thread needs 8 adjacent elements of a row of y, which are in 8 adjacent rows of x. One
// transposing ldmatrix.x4 loads them into the thread's four registers if 8x8 matrix number i (0 to 3) consists of the
// rows 8 a + 2 i + b of x, with a = 0..3 and b = 0, 1. The shared-memory layout makes the eight rows of a matrix
// consecutive, and the swizzle places them in different banks.
#pragma once
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/block.hpp>
#include <zellige/layout/composed.hpp>

namespace zellige::kernels {

/// Layout of the tile in shared memory, without the swizzle: maps (row, column modulo 64, column / 64) to an offset in
/// elements.
template <int Rows, int Slabs>
using TransposeLayout = Layout<Shape<Shape<_2, _4, _4, Int<Rows / 32>>, _64, Int<Slabs>>,
                               Stride<Stride<_64, _512, _128, _2048>, _1, Int<Rows * 64>>>;

/// Sets y to the transpose of x; each block transposes a tile of Rows x 64 Slabs elements. `rows` and `columns` are
/// those of x; pitches are in elements. Aligned requires that all four are multiples of 8, and that both matrices start
/// at multiples of 16 bytes.
template <class T, int Rows, int Slabs, int Threads, bool Aligned>
__global__ void __launch_bounds__(Threads)
    transpose(gmem<const T> x, gmem<T> y, int rows, int columns, int64_t pitch_x, int64_t pitch_y) {
  static_assert(sizeof(T) == 2 && Rows % 32 == 0 && Threads % (8 * Slabs) == 0);
  constexpr int chunks = 8 * Slabs;  // of 8 elements per row of the tile
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int row0 = static_cast<int>(blockIdx.y) * Rows, column0 = static_cast<int>(blockIdx.x) * 64 * Slabs;
  const auto tile =
      shared_tile<T>("tile", 0, Rows * 64 * Slabs, composition(Swizzle<3, 3, 3>{}, TransposeLayout<Rows, Slabs>{}));

  griddep_launch_dependents();
  griddep_wait();
  const int chunk = tid % chunks, column = column0 + chunk * 8;
#pragma unroll
  for (int r = tid / chunks; r < Rows; r += Threads / chunks) {
    const int row = row0 + r;
    const smem<T> to = tile(r, chunk % 8 * 8, chunk / 8);
    if constexpr (Aligned) {
      const bool inside = row < rows && column < columns;
      cp_async<16>(to, inside ? x + row * pitch_x + column : x, inside ? 16 : 0);
    } else {
      Vec<T, 8> v;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        v[j] = row < rows && column + j < columns ? load_once<1>(x + row * pitch_x + column + j)[0] : T(0.0f);
      store(to, v);
    }
  }
  cp_async_commit();
  cp_async_wait<0>();
  __syncthreads();

#pragma unroll
  for (int c = warp; c < chunks; c += Threads / 32)
#pragma unroll
    for (int band = 0; band < Rows / 32; ++band) {
      const int r = band * 32 + lane % 8 / 2 * 8 + lane / 8 * 2 + lane % 2;
      uint32_t eight[4];
      ldmatrix_x4_trans(eight, tile(r, c % 8 * 8, c / 8));
      const int to_row = column0 + c * 8 + lane / 4, to_column = row0 + band * 32 + lane % 4 * 8;
      if (to_row >= columns || to_column >= rows) continue;
      const Vec<T, 8> v = bit_cast<Vec<T, 8>>(Vec<uint32_t, 4>{{eight[0], eight[1], eight[2], eight[3]}});
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
