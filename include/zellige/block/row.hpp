// Keeps a matrix row in the registers of a block and reduces the row over the block. Softmax and norm kernels use it
// to read each element only once.
//
//   RowTile<half_t, 8, 512, 2> tile;                 // 512 threads, each with 2 chunks of V = 8 elements
//   tile.load(row, 0, columns, 0.0f);                // from column 0 on; zeros beyond the row's `columns` columns
//   float sum = join_lanes<32>(tile.fold(0.0f, Sum{}), Sum{});                             // over the warp's elements
//   sum = join_lanes<16>(exchange_warps<16>(Vec<float, 1>{{sum}}, slots)[0], Sum{});       // over the block's 16 warps
//   tile.store(target, 0, columns, [&](auto x, int) { return scaled(x, 1 / sum); });
//
// An access moves V elements. V = 16 bytes / sizeof(T) requires that rows start at multiples of 16 bytes and have a
// multiple of V columns; V = 1 is allowed for any row.
#pragma once
#include <zellige/block/reduce.hpp>
#include <zellige/block/tile.hpp>

namespace zellige {

/// A thread's elements of a tile: Threads * Chunks * V columns of a row. A thread has `Chunks` chunks of V adjacent
/// elements, which are Threads * V columns apart.
template <class T, int V, int Threads, int Chunks>
struct RowTile {
  static constexpr int columns = Threads * Chunks * V;
  Vec<T, V> x[Chunks];

  /// Returns the first column of the thread's chunk number `chunk`, relative to the tile's first column.
  ZELLIGE_CALL static int column(int chunk) { return (chunk * Threads + static_cast<int>(threadIdx.x)) * V; }

  /// Returns how many of the tile's elements that this warp holds are within the row. The row has row_columns
  /// columns, and the tile begins at column `first`.
  ZELLIGE_CALL static int count_in_warp(int first, int row_columns) {
    int count = 0;
#pragma unroll
    for (int i = 0; i < Chunks; ++i)
      count += edge(row_columns - first - (i * Threads + static_cast<int>(threadIdx.x) / 32 * 32) * V, 32 * V);
    return count;
  }
  /// Loads the tile, which begins at column `first` of the row. Elements beyond the row's row_columns columns become
  /// `outside`. No thread may write the row while the kernel runs.
  ZELLIGE_CALL void load(gmem<const T> row, int first, int row_columns, float outside) {
#pragma unroll
    for (int i = 0; i < Chunks; ++i) {
#pragma unroll
      for (int j = 0; j < V; ++j) x[i][j] = T(outside);
      if (first + column(i) < row_columns) x[i] = load_once<V>(row + first + column(i));
    }
  }
  /// Returns f(... f(f(start, x0), x1) ...) where x0, x1, ... are all elements that the thread holds, including those
  /// beyond the row.
  template <class F>
  ZELLIGE_CALL float fold(float start, F f) const {
#pragma unroll
    for (int i = 0; i < Chunks; ++i)
#pragma unroll
      for (int j = 0; j < V; ++j) start = f(start, static_cast<float>(x[i][j]));
    return start;
  }
  /// Returns f(... f(f(start, x0), x1) ...) where x0, x1, ... are those elements of the thread that are within the
  /// row. The row has row_columns columns, and the tile begins at column `first`.
  template <class F>
  ZELLIGE_CALL float fold_inside(int first, int row_columns, float start, F f) const {
#pragma unroll
    for (int i = 0; i < Chunks; ++i)
      if (first + column(i) < row_columns)
#pragma unroll
        for (int j = 0; j < V; ++j) start = f(start, static_cast<float>(x[i][j]));
    return start;
  }
  /// Stores f(values, i), rounded to T, to the columns of `row` that chunk i of the thread covers, for each chunk i
  /// that is within the row; `values` are the chunk's elements as floats. The row has row_columns columns, and the tile
  /// begins at column `first`.
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

/// Exchanges one vector per warp: lane l of every warp gets the vector that lane 0 of warp l mod Warps passes as
/// `mine`. So join_lanes<Warps> of an element joins it over the warps. `slots` has Warps * N floats of shared memory.
/// Contains a block barrier; two consecutive calls need different slots.
template <int Warps, int N>
ZELLIGE_CALL Vec<float, N> exchange_warps(const Vec<float, N>& mine, smem<float> slots) {
  static_assert((Warps & (Warps - 1)) == 0 && Warps <= 32, "exchange_warps: 1, 2, 4, ... warps");
  if (threadIdx.x % 32 == 0) store(slots + threadIdx.x / 32 * N, mine);
  __syncthreads();
  return load<N>(slots + threadIdx.x % Warps * N);
}

}  // namespace zellige
