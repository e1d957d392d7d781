// Computes the softmax of the rows of a matrix of any size: y = exp(x - max x) / sum exp(x - max x).
//
//   // V = 8, 512 threads, 2 chunks of V elements per thread, not Long
//   softmax<half_t, 8, 512, 2, false><<<rows, 512, 256>>>(x, y, rows, columns, pitch, pitch);
//
// A block reads a row once and keeps it in registers, up to V * Threads * Chunks columns. With Long, rows may have more
// columns; the block then reads each row three times.
//
//   V = 8           pitches and columns are multiples of 8, and both matrices start at multiples of 16 bytes
//   V = 1           any matrix
//   shared memory   4 * Threads / 32 floats
//   grid            one block per row is fastest, because some blocks load while others reduce; in a smaller grid,
//                   blocks loop over rows
//
// A row needs only one barrier, because a warp sums exponentials relative to its own maximum.
#pragma once
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/block/row.hpp>

namespace zellige::kernels {

/// Sets each row of y to the softmax of the same row of x. Pitches are in elements. A thread keeps Chunks chunks of V
/// elements in registers; Long allows rows that do not fit.
template <class T, int V, int Threads, int Chunks, bool Long, int BlocksPerSM = 1>
__global__ void __launch_bounds__(Threads, BlocksPerSM)
    softmax(gmem<const T> x, gmem<T> y, int rows, int columns, int64_t pitch_x, int64_t pitch_y) {
  constexpr int warps = Threads / 32;
  constexpr float log2e = 1.4426950408889634f, minus_infinity = -infinity;
  const smem<float> slots = shared<float>("slots", 0, 4 * warps);  // in two halves, for even and odd rows
  using Tile = RowTile<T, V, Threads, Chunks>;
  const int end = Long ? columns : 1, step = gridDim.x;  // of one tile, of rows
  const auto exponential = [](float v, float largest) { return zellige::exp2(zellige::fma(v, log2e, -largest)); };

  griddep_launch_dependents();
  griddep_wait();
  int row = blockIdx.x, slot = 0;
  for (; row < rows; row += step) {
    const gmem<const T> from = x + row * pitch_x;
    Tile tile;
    float largest = minus_infinity, sum = 0;
    for (int first = 0; first < end; first += Tile::columns) {
      tile.load(from, first, columns, minus_infinity);
      largest = tile.fold(largest, Max{});
    }
    largest = join_lanes<32>(largest, Max{}) * log2e;
    const float reference = largest == minus_infinity ? 0.0f : largest;
    for (int first = 0; first < end; first += Tile::columns) {
      if (Long) tile.load(from, first, columns, minus_infinity);
      sum = tile.fold(sum, [=](float s, float v) { return s + exponential(v, reference); });
    }
    sum = join_lanes<32>(sum, Sum{});
    const Vec<float, 2> other = exchange_warps<warps>(Vec<float, 2>{{largest, sum}}, slots + slot);
    slot = 2 * warps - slot;
    largest = join_lanes<warps>(other[0], Max{});
    const float scale = reciprocal(join_lanes<warps>(other[1] * zellige::exp2(other[0] - largest), Sum{}));

    for (int first = 0; first < end; first += Tile::columns) {
      if (Long) tile.load(from, first, columns, 0.0f);
      tile.store(y + row * pitch_y, first, columns, [=](Vec<float, V> v, int) {
#pragma unroll
        for (int j = 0; j < V; ++j) v[j] = exponential(v[j], largest) * scale;
        return v;
      });
    }
  }
}

}  // namespace zellige::kernels
