// Rows in the registers of a block: how softmax and the norms read each element once.
//
//   RowTile<half_t, 8, 256, 4> tile;                       // 256 threads, each with 4 chunks of 8 elements
//   tile.load(row, 0, columns, 0.0f);                      // columns from the first one on; zeros behind the row
//   float total = reduce_block<256>(tile.fold(0.0f, Sum{}), slots, Sum{});
//   tile.store(target, 0, columns, [&](auto x, int) { return scaled(x, 1 / total); });
//
// V elements are one access: 16 bytes where rows start at multiples of that and have a multiple of V columns, else
// V is 1.
#pragma once
#include <zellige/block/tile.hpp>

namespace zellige {

template <class T, int V, int Threads, int Chunks>
struct RowTile {
  static constexpr int columns = Threads * Chunks * V;
  Vec<T, V> x[Chunks];

  ZELLIGE_CALL static int column(int chunk) { return (chunk * Threads + static_cast<int>(threadIdx.x)) * V; }

  /// Columns first, first + 1, ... of a row that nobody writes; `outside` behind its last one.
  ZELLIGE_CALL void load(gmem<const T> row, int first, int row_columns, float outside) {
#pragma unroll
    for (int i = 0; i < Chunks; ++i) {
#pragma unroll
      for (int j = 0; j < V; ++j) x[i][j] = T(outside);
      if (first + column(i) < row_columns) x[i] = load_once<V>(row + first + column(i));
    }
  }
  /// The same from a copy in shared memory.
  ZELLIGE_CALL void read(smem<const T> row, int row_columns, float outside) {
#pragma unroll
    for (int i = 0; i < Chunks; ++i) {
#pragma unroll
      for (int j = 0; j < V; ++j) x[i][j] = T(outside);
      if (column(i) < row_columns) x[i] = zellige::load<V>(row + column(i));
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
  /// f(values, i) of each chunk i, rounded to T.
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

/// Folds x over the block's threads; all get the result. `slots` has a float a warp. A next reduction needs other
/// slots; the one after it may use these again. It is a barrier too: what the threads did before is done.
template <int Threads, class F>
ZELLIGE_CALL float reduce_block(float x, smem<float> slots, F f) {
  constexpr int warps = Threads / 32;
  static_assert(warps * 32 == Threads && (warps & (warps - 1)) == 0, "reduce_block: 32, 64, 128, ... threads");
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) x = f(x, shfl_xor(x, mask));
  if constexpr (warps > 1) {
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = x;
    __syncthreads();
    x = slots[threadIdx.x % warps];
#pragma unroll
    for (int mask = warps / 2; mask > 0; mask /= 2) x = f(x, shfl_xor(x, mask));
  } else {
    __syncwarp();
  }
  return x;
}

}  // namespace zellige
