// RowTile: matrix rows in the registers of a block, so that softmax and the norms read each element once.
//
//   RowTile<half_t, 8, 512, 2> tile;                 // 512 threads, each with 2 chunks of 8 elements
//   tile.load(row, 0, columns, 0.0f);                // columns 0, 1, ...; zeros after the row's last one
//   float sum = reduce_warp(tile.fold(0.0f, Sum{}), Sum{});
//   sum = reduce_warps<16>(exchange_warps<16>(Vec<float, 1>{{sum}}, slots)[0], Sum{});
//   tile.store(target, 0, columns, [&](auto x, int) { return scaled(x, 1 / sum); });
//
// V elements are one access: 16 bytes if rows start at multiples of 16 bytes and have a multiple of V
// columns, else V must be 1.
#pragma once
#include <zellige/atom/shuffle.hpp>
#include <zellige/block/tile.hpp>

namespace zellige {

template <class T, int V, int Threads, int Chunks>
struct RowTile {
  static constexpr int columns = Threads * Chunks * V;
  Vec<T, V> x[Chunks];

  ZELLIGE_CALL static int column(int chunk) { return (chunk * Threads + static_cast<int>(threadIdx.x)) * V; }

  /// The number of the row's elements that this warp holds.
  ZELLIGE_CALL static int count_in_warp(int first, int row_columns) {
    int count = 0;
#pragma unroll
    for (int i = 0; i < Chunks; ++i)
      count +=
          edge(row_columns - first - (i * Threads + static_cast<int>(threadIdx.x) / 32 * 32) * V, 32 * V);
    return count;
  }
  /// Loads columns first, first + 1, ... of a read-only row, and `outside` after its last column.
  ZELLIGE_CALL void load(gmem<const T> row, int first, int row_columns, float outside) {
#pragma unroll
    for (int i = 0; i < Chunks; ++i) {
#pragma unroll
      for (int j = 0; j < V; ++j) x[i][j] = T(outside);
      if (first + column(i) < row_columns) x[i] = load_once<V>(row + first + column(i));
    }
  }
  /// f(f(f(start, x0), x1), ...)
  template <class F>
  ZELLIGE_CALL float fold(float start, F f) const {
#pragma unroll
    for (int i = 0; i < Chunks; ++i)
#pragma unroll
      for (int j = 0; j < V; ++j) start = f(start, static_cast<float>(x[i][j]));
    return start;
  }
  /// The same over the row's own elements only.
  template <class F>
  ZELLIGE_CALL float fold_inside(int first, int row_columns, float start, F f) const {
#pragma unroll
    for (int i = 0; i < Chunks; ++i)
      if (first + column(i) < row_columns)
#pragma unroll
        for (int j = 0; j < V; ++j) start = f(start, static_cast<float>(x[i][j]));
    return start;
  }
  /// Stores f(values, i) of each chunk i, rounded to T.
  template <class F>
  ZELLIGE_CALL void store(gmem<T> row, int first, int row_columns, F f) const {
#pragma unroll
    for (int i = 0; i < Chunks; ++i) {
      if (first + column(i) >= row_columns) continue;
      Vec<float, V> values;
#pragma unroll
      for (int j = 0; j < V; ++j) values[j] = static_cast<float>(x[i][j]);
      write<V>(row + first + column(i), f(values, i));
    }
  }
};

struct Sum {
  ZELLIGE_CALL float operator()(float x, float y) const { return x + y; }
};
struct Max {
  ZELLIGE_CALL float operator()(float x, float y) const { return max_number(x, y); }
};

/// Folds x over the warp; all lanes get the result.
template <class F>
ZELLIGE_CALL float reduce_warp(float x, F f) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) x = f(x, shfl_xor(x, mask));
  return x;
}

/// Gives every warp's value to all: lane l gets the value of warp l mod Warps. Contains a block barrier; two
/// consecutive calls need different slots.
template <int Warps, int N>
ZELLIGE_CALL Vec<float, N> exchange_warps(const Vec<float, N>& mine, smem<float> slots) {
  static_assert((Warps & (Warps - 1)) == 0 && Warps <= 32, "exchange_warps: 1, 2, 4, ... warps");
  if (threadIdx.x % 32 == 0) store(slots + threadIdx.x / 32 * N, mine);
  __syncthreads();
  return load<N>(slots + threadIdx.x % Warps * N);
}
/// Folds over the lanes to which exchange_warps gave the warps' values.
template <int Warps, class F>
ZELLIGE_CALL float reduce_warps(float x, F f) {
#pragma unroll
  for (int mask = Warps / 2; mask > 0; mask /= 2) x = f(x, shfl_xor(x, mask));
  return x;
}

}  // namespace zellige
