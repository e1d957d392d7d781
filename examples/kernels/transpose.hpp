// Transpose of a matrix of 16-bit elements, of any size: y(c, r) = x(r, c).
//
//   transpose<half_t, 128, 2, 2, 256, true><<<132 * 3, 256, 2 * 32768>>>(x, y, rows, columns, pitch_x, pitch_y);
//
// Blocks move tiles of Rows x 64 Slabs elements through shared memory, one after another: 16 bytes of a row in, while
// earlier tiles of the ring of Stages go out: ldmatrix transposes, 16 bytes of a column are stored. Aligned: rows, columns
// and pitches are multiples of 8 and both matrices start at multiples of 16 bytes; otherwise Stages is 1 and elements go
// in and out one by one. 128 * Rows * Slabs * Stages bytes of shared memory.
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

template <class T, int Rows, int Slabs, int Stages, int Threads, bool Aligned, bool Down = false>
__global__ void __launch_bounds__(Threads)
    transpose(gmem<const T> x, gmem<T> y, int rows, int columns, int64_t pitch_x, int64_t pitch_y) {
  static_assert(sizeof(T) == 2 && Rows % 32 == 0 && (Aligned || Stages == 1));
  constexpr int chunks = 8 * Slabs, size = Rows * 64 * Slabs;  // chunks: of 8 elements in a row of the tile
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int across = (columns + 64 * Slabs - 1) / (64 * Slabs), down = (rows + Rows - 1) / Rows, tiles = across * down;
  const auto ring = shared_tile<T>("ring", 0, Stages * size, composition(Swizzle<3, 3, 3>{}, TransposeLayout<Rows, Slabs>{}));
  const auto row_of = [=](int tile) { return (Down ? tile % down : tile / across) * Rows; };
  const auto column_of = [=](int tile) { return (Down ? tile / down : tile % across) * 64 * Slabs; };

  const auto load_tile = [&](int stage, int tile) {
    if (tile < tiles) {
      const int row0 = row_of(tile), column = column_of(tile) + tid % chunks * 8;
#pragma unroll
      for (int i = 0; i < Rows * chunks / Threads; ++i) {
        const int r = (tid + i * Threads) / chunks, row = row0 + r;
        const smem<T> to = ring.shift(stage * size)(r, tid % chunks % 8 * 8, tid % chunks / 8);
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
    }
    cp_async_commit();
  };

  const int first = blockIdx.x, step = gridDim.x;
#pragma unroll
  for (int s = 0; s < Stages; ++s) load_tile(s, first + s * step);
  int stage = 0;
  for (int tile = first; tile < tiles; tile += step) {
    cp_async_wait<Stages - 1>();
    __syncthreads();
    const int row0 = row_of(tile), column0 = column_of(tile);
#pragma unroll
    for (int c = warp; c < chunks; c += Threads / 32)
#pragma unroll
      for (int band = 0; band < Rows / 32; ++band) {
        const int r = band * 32 + lane % 8 / 2 * 8 + lane / 8 * 2 + lane % 2;
        uint32_t column[4];
        ldmatrix_x4_trans(column, ring.shift(stage * size)(r, c % 8 * 8, c / 8));
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
    __syncthreads();
    load_tile(stage, tile + Stages * step);
    stage = stage + 1 == Stages ? 0 : stage + 1;
  }
}

}  // namespace zellige::kernels
