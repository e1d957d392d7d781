// Softmax over the rows of a matrix of any size: y = exp(x - max x) / sum exp(x - max x).
//
//   softmax<half_t, 8, 256, 4, false><<<rows, 256, 64>>>(x, y, rows, columns, pitch, pitch);
//
// A block takes a row and keeps it in registers: V * Threads * Chunks columns, so that each element is read once. Long
// tells that rows may have more; they are read three times. V = 8: pitches and columns are multiples of 8 and both
// matrices start at multiples of 16 bytes; V = 1: any. 2 * Threads / 32 floats of shared memory. A smaller grid works
// too, its blocks then go on to further rows.
//
//   softmax_stream<half_t, 512, 2, 6><<<132 * 2, 512, SoftmaxStream<half_t, 512, 2, 6>::bytes>>>(x, y, rows, columns, pitch, pitch);
//
// The same on Hopper, for V = 8 and rows of up to 8 * Threads * Chunks columns: the rows come by bulk copies through a
// ring (RowRing), 6 of them here, so that loads go on while a row is reduced.
#pragma once
#include <zellige/block/row.hpp>
#include <zellige/block/row_ring.hpp>

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

template <class T, int Threads, int Chunks, int Stages>
struct SoftmaxStream {
  using Tile = RowTile<T, 16 / sizeof(T), Threads, Chunks>;
  using Ring = RowRing<T, Tile::columns, Stages>;
  static constexpr int bytes = Ring::bytes + 8 * Threads / 32;
};

template <class T, int Threads, int Chunks, int Stages, int BlocksPerSM = 1>
__global__ void __launch_bounds__(Threads, BlocksPerSM)
    softmax_stream(gmem<const T> x, gmem<T> y, int rows, int columns, int64_t pitch_x, int64_t pitch_y) {
  using Plan = SoftmaxStream<T, Threads, Chunks, Stages>;
  constexpr int V = 16 / sizeof(T), warps = Threads / 32;
  constexpr float log2e = 1.4426950408889634f, minus_infinity = -__builtin_huge_valf();
  const smem<float> maxima = shared<float>("maxima", Plan::Ring::bytes, warps);
  const smem<float> sums = shared<float>("sums", Plan::Ring::bytes + 4 * warps, warps);

  typename Plan::Ring ring(x, pitch_x, rows, columns);
  for (int row = static_cast<int>(blockIdx.x); row < rows; row += static_cast<int>(gridDim.x)) {
    typename Plan::Tile tile;
    tile.read(ring.row(), columns, minus_infinity);
    const float largest = reduce_block<Threads>(tile.fold(minus_infinity, Max{}), maxima, Max{}) * log2e;
    ring.next();
    const auto exponential = [=](float v) { return zellige::exp2(zellige::fma(v, log2e, -largest)); };
    const float sum = tile.fold(0.0f, [=](float s, float v) { return s + exponential(v); });
    const float scale = reciprocal(reduce_block<Threads>(sum, sums, Sum{}));
    tile.store(y + row * pitch_y, 0, columns, [=](Vec<float, V> v, int) {
#pragma unroll
      for (int j = 0; j < V; ++j) v[j] = exponential(v[j]) * scale;
      return v;
    });
  }
}

}  // namespace zellige::kernels
