// Computes RMSNorm or LayerNorm of the rows of a matrix of any size.
//
//   // V = 8, 512 threads, 2 chunks of V elements per thread, not Long; w is passed for the unused bias, too
//   norm<Norm::rms, half_t, 8, 512, 2, false><<<rows, 512, 512>>>(x, w, w, y, rows, columns, pitch, pitch, 1e-5f);
//
//   rms     y = x / sqrt(mean(x^2) + epsilon) * weight
//   layer   y = (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * weight + bias
//   plain_rms, plain_layer: without weight and bias, which are then not read
//
// A block of Threads threads reads a row; each thread keeps Chunks chunks of V elements in registers. With Long, rows
// may have more than V * Threads * Chunks columns. softmax.hpp says what V = 8 requires, and which grid is fastest.
// Shared memory: 8 * Threads / 32 floats.
//
// LayerNorm needs only one barrier per row. A warp sums the squared deviations of its n elements from the mean of
// these n elements; adding n (warp's mean - row's mean)^2 gives their squared deviations from the row's mean.
#pragma once
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/block/row.hpp>

namespace zellige::kernels {

enum class Norm { rms, layer, plain_rms, plain_layer };

/// Sets each row of y to the RMSNorm or LayerNorm of the same row of x. Pitches are in elements. A thread keeps Chunks
/// chunks of V elements in registers; Long allows rows that do not fit. Only Norm::layer reads `bias`.
template <Norm Kind, class T, int V, int Threads, int Chunks, bool Long, int BlocksPerSM = 1>
__global__ void __launch_bounds__(Threads, BlocksPerSM)
    norm(gmem<const T> x, gmem<const T> weight, gmem<const T> bias, gmem<T> y, int rows, int columns, int64_t pitch_x,
         int64_t pitch_y, float epsilon) {
  constexpr bool centred = Kind == Norm::layer || Kind == Norm::plain_layer;
  constexpr bool weighted = Kind == Norm::rms || Kind == Norm::layer;
  constexpr int warps = Threads / 32;
  const smem<float> slots = shared<float>("slots", 0, 8 * warps);  // in two halves, for even and odd rows
  using Tile = RowTile<T, V, Threads, Chunks>;
  const int end = Long ? columns : 1, step = gridDim.x;  // of one tile, of rows

  griddep_launch_dependents();
  griddep_wait();
  int row = blockIdx.x, slot = 0;
  for (; row < rows; row += step) {
    const gmem<const T> from = x + row * pitch_x;
    Tile tile;
    float sum = 0, count = 0, mean = 0, squares = 0;  // of the warp
    if constexpr (centred) {
      for (int first = 0; first < end; first += Tile::columns) {
        tile.load(from, first, columns, 0.0f);
        sum = tile.fold(sum, Sum{});
        count += Tile::count_in_warp(first, columns);
      }
      sum = join_lanes<32>(sum, Sum{});
      mean = count > 0 ? sum / count : 0.0f;
    }
    for (int first = 0; first < end; first += Tile::columns) {
      if (Long || !centred) tile.load(from, first, columns, 0.0f);
      squares = tile.fold_inside(first, columns, squares,
                                 [=](float s, float v) { return zellige::fma(v - mean, v - mean, s); });
    }
    squares = join_lanes<32>(squares, Sum{});
    if constexpr (centred) {
      const Vec<float, 4> other = exchange_warps<warps>(Vec<float, 4>{{sum, squares, count, mean}}, slots + slot);
      mean = join_lanes<warps>(other[0], Sum{}) / columns;
      squares = join_lanes<warps>(zellige::fma(other[2], zellige::square(other[3] - mean), other[1]), Sum{});
    } else {
      squares = join_lanes<warps>(exchange_warps<warps>(Vec<float, 1>{{squares}}, slots + slot)[0], Sum{});
    }
    slot = 4 * warps - slot;
    const float scale = 1.0f / zellige::sqrt(squares / columns + epsilon);

    for (int first = 0; first < end; first += Tile::columns) {
      if (Long) tile.load(from, first, columns, 0.0f);
      tile.store(y + row * pitch_y, first, columns, [=](Vec<float, V> v, int i) {
        const int column = first + Tile::column(i);
        Vec<T, V> w, b;
        if constexpr (weighted) w = load<V>(weight + column);
        if constexpr (Kind == Norm::layer) b = load<V>(bias + column);
#pragma unroll
        for (int j = 0; j < V; ++j) {
          v[j] = (v[j] - mean) * scale;
          if constexpr (Kind == Norm::layer)
            v[j] = zellige::fma(v[j], w[j], b[j]);
          else if constexpr (weighted)
            v[j] *= w[j];
        }
        return v;
      });
    }
  }
}

}  // namespace zellige::kernels
