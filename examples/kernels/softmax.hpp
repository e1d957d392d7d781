// Softmax over the rows of a matrix of any size: y = exp(x - max x) / sum exp(x - max x).
//
//   softmax<half_t, 8, 256, 4, false><<<rows, 256, 64>>>(x, y, rows, columns, pitch, pitch);
//
// A block takes a row and keeps it in registers: V * Threads * Chunks columns, so that each element is read once. Long
// tells that rows may have more; they are read three times. V = 8: pitches and columns are multiples of 8 and both
// matrices start at multiples of 16 bytes; V = 1: any. 2 * Threads / 32 floats of shared memory. A smaller grid works
// too, its blocks then go on to further rows.
#pragma once
#include <zellige/block/row.hpp>

namespace zellige::kernels {

template <class T, int V, int Threads, int Chunks, bool Long, int BlocksPerSM = 1>
__global__ void __launch_bounds__(Threads, BlocksPerSM)
    softmax(gmem<const T> x, gmem<T> y, int rows, int columns, int64_t pitch_x, int64_t pitch_y) {
  constexpr int warps = Threads / 32;
  constexpr float log2e = 1.4426950408889634f, minus_infinity = -__builtin_huge_valf();
  const smem<float> maxima = shared<float>("maxima", 0, warps), sums = shared<float>("sums", 4 * warps, warps);
  using Tile = RowTile<T, V, Threads, Chunks>;
  const int end = Long ? columns : 1;  // one tile

  for (int row = static_cast<int>(blockIdx.x); row < rows; row += static_cast<int>(gridDim.x)) {
    const gmem<const T> from = x + row * pitch_x;
    const gmem<T> to = y + row * pitch_y;
    Tile tile;
    float largest = minus_infinity;
    for (int first = 0; first < end; first += Tile::columns) {
      tile.load(from, first, columns, minus_infinity);
      largest = tile.fold(largest, Max{});
    }
    largest = reduce_block<Threads>(largest, maxima, Max{}) * log2e;

    const auto exponential = [=](float v) { return zellige::exp2(zellige::fma(v, log2e, -largest)); };
    float sum = 0;
    for (int first = 0; first < end; first += Tile::columns) {
      if (Long) tile.load(from, first, columns, minus_infinity);
      sum = tile.fold(sum, [=](float s, float v) { return s + exponential(v); });
    }
    const float scale = reciprocal(reduce_block<Threads>(sum, sums, Sum{}));

    for (int first = 0; first < end; first += Tile::columns) {
      if (Long) tile.load(from, first, columns, 0.0f);
      tile.store(to, first, columns, [=](Vec<float, V> v, int) {
#pragma unroll
        for (int j = 0; j < V; ++j) v[j] = exponential(v[j]) * scale;
        return v;
      });
    }
  }
}

}  // namespace zellige::kernels
