// RMSNorm and LayerNorm over the rows of a matrix of any size.
//
//   norm<Norm::rms, half_t, 8, 256, 4, false><<<rows, 256, 128>>>(x, w, w, y, rows, columns, pitch, pitch, 1e-5f);
//
//   rms     y = x / sqrt(mean(x^2) + epsilon) * weight
//   layer   y = (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * weight + bias
//   plain_rms, plain_layer: without weight and bias, which are then not read
//
// V, Threads, Chunks and Long are as in softmax.hpp; 4 * Threads / 32 floats of shared memory. The variance is summed
// about the mean.
//
//   norm_stream<Norm::layer, half_t, 512, 2, 6><<<132 * 2, 512, NormStream<half_t, 512, 2, 6>::bytes>>>(...);
//
// The same on Hopper, for V = 8 and rows of up to 8 * Threads * Chunks columns: the rows come by bulk copies through a
// ring (RowRing), and each thread keeps its columns' weight and bias in registers.
#pragma once
#include <zellige/block/row.hpp>
#include <zellige/block/row_ring.hpp>

namespace zellige::kernels {

enum class Norm { rms, layer, plain_rms, plain_layer };

template <Norm Kind, class T, int V, int Threads, int Chunks, bool Long, int BlocksPerSM = 1>
__global__ void __launch_bounds__(Threads, BlocksPerSM)
    norm(gmem<const T> x, gmem<const T> weight, gmem<const T> bias, gmem<T> y, int rows, int columns, int64_t pitch_x,
         int64_t pitch_y, float epsilon) {
  constexpr bool centred = Kind == Norm::layer || Kind == Norm::plain_layer;
  constexpr bool weighted = Kind == Norm::rms || Kind == Norm::layer;
  constexpr int warps = Threads / 32;
  // Each in two copies, for even and odd rows: without the means there is one barrier a row.
  const smem<float> means = shared<float>("means", 0, 2 * warps);
  const smem<float> squares = shared<float>("squares", 8 * warps, 2 * warps);
  using Tile = RowTile<T, V, Threads, Chunks>;
  const int end = Long ? columns : 1;  // one tile

  int slot = 0;
  for (int row = static_cast<int>(blockIdx.x); row < rows; row += static_cast<int>(gridDim.x)) {
    const gmem<const T> from = x + row * pitch_x;
    const gmem<T> to = y + row * pitch_y;
    Tile tile;
    float mean = 0;
    if constexpr (centred) {
      for (int first = 0; first < end; first += Tile::columns) {
        tile.load(from, first, columns, 0.0f);
        mean = tile.fold(mean, Sum{});
      }
      mean = reduce_block<Threads>(mean, means + slot, Sum{}) / columns;
    }

    float sum = 0;
    for (int first = 0; first < end; first += Tile::columns) {
      if (!centred || Long) tile.load(from, first, columns, 0.0f);
      sum = tile.fold_inside(first, columns, sum, [=](float s, float v) { return zellige::fma(v - mean, v - mean, s); });
    }
    const float variance = reduce_block<Threads>(sum, squares + slot, Sum{}) / columns;
    const float scale = 1.0f / zellige::sqrt(variance + epsilon);

    for (int first = 0; first < end; first += Tile::columns) {
      if (Long) tile.load(from, first, columns, 0.0f);
      tile.store(to, first, columns, [=](Vec<float, V> v, int i) {
        const int column = first + Tile::column(i);
        Vec<T, V> w, b;
        if constexpr (weighted) w = load<V>(weight + column);
        if constexpr (Kind == Norm::layer) b = load<V>(bias + column);
#pragma unroll
        for (int j = 0; j < V; ++j) {
          v[j] = (v[j] - mean) * scale;
          if constexpr (Kind == Norm::layer) v[j] = zellige::fma(v[j], w[j], b[j]);
          else if constexpr (weighted) v[j] *= w[j];
        }
        return v;
      });
    }
    slot = warps - slot;
  }
}

template <class T, int Threads, int Chunks, int Stages>
struct NormStream {
  using Tile = RowTile<T, 16 / sizeof(T), Threads, Chunks>;
  using Ring = RowRing<T, Tile::columns, Stages>;
  static constexpr int bytes = Ring::bytes + 16 * Threads / 32;
};

template <Norm Kind, class T, int Threads, int Chunks, int Stages, int BlocksPerSM = 1>
__global__ void __launch_bounds__(Threads, BlocksPerSM)
    norm_stream(gmem<const T> x, gmem<const T> weight, gmem<const T> bias, gmem<T> y, int rows, int columns, int64_t pitch_x,
                int64_t pitch_y, float epsilon) {
  using Plan = NormStream<T, Threads, Chunks, Stages>;
  constexpr bool centred = Kind == Norm::layer || Kind == Norm::plain_layer;
  constexpr bool weighted = Kind == Norm::rms || Kind == Norm::layer;
  constexpr int V = 16 / sizeof(T), warps = Threads / 32;
  const smem<float> means = shared<float>("means", Plan::Ring::bytes, 2 * warps);
  const smem<float> squares = shared<float>("squares", Plan::Ring::bytes + 8 * warps, 2 * warps);

  typename Plan::Ring ring(x, pitch_x, rows, columns);
  typename Plan::Tile w, b;
  if constexpr (weighted) w.load(weight, 0, columns, 0.0f);
  if constexpr (Kind == Norm::layer) b.load(bias, 0, columns, 0.0f);
  int slot = 0;
  for (int row = static_cast<int>(blockIdx.x); row < rows; row += static_cast<int>(gridDim.x)) {
    typename Plan::Tile tile;
    tile.read(ring.row(), columns, 0.0f);
    float mean = 0;
    if constexpr (centred) mean = reduce_block<Threads>(tile.fold(0.0f, Sum{}), means + slot, Sum{}) / columns;
    const float sum = tile.fold_inside(0, columns, 0.0f, [=](float s, float v) { return zellige::fma(v - mean, v - mean, s); });
    const float variance = reduce_block<Threads>(sum, squares + slot, Sum{}) / columns;
    ring.next();
    const float scale = 1.0f / zellige::sqrt(variance + epsilon);
    tile.store(y + row * pitch_y, 0, columns, [&](Vec<float, V> v, int i) {
#pragma unroll
      for (int j = 0; j < V; ++j) {
        v[j] = (v[j] - mean) * scale;
        if constexpr (Kind == Norm::layer) v[j] = zellige::fma(v[j], w.x[i][j], b.x[i][j]);
        else if constexpr (weighted) v[j] *= w.x[i][j];
      }
      return v;
    });
    slot = warps - slot;
  }
}

}  // namespace zellige::kernels
