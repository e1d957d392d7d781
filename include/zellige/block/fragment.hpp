// Defines Fragment: a thread's float32 accumulators of a block's batched matmul, distributed over the block's warps.
// WB x WM x WN warps divide the (Batch, M, N) accumulators; WK warps per tile accumulate over different slices of K.
//
//   Fragment<1, 16, 64, 1, 1, 4> d;                 // one 16 x 64 matrix, divided among 4 warps along N
//   for (int i = 0; i < d.pairs; ++i) {
//     const auto at = d.at(i, warp, lane);          // pair i is element (at.b, at.m, at.n) and its right neighbour
//     d.pair(i)[0] += 1, d.pair(i)[1] += 1;
//   }
//
// The template argument `Of` is the instruction, m16n8k16 by default, or an OuterProduct (FMA units). It determines the
// size m x n of a tile and the coordinates of a tile's accumulators. Terms:
//
//   unit     the columns that a warp owns at a time: two adjacent m16n8k16 or m16n8k32 tiles, which are 16 columns, or one
//            tile of another instruction. Of WN warps along N, warp w owns units w, w + WN, ...
//   run      the adjacent columns of one row that a thread owns in a tile; for matrix instructions, a pair
//   Operand  the accumulators, rounded to A fragments of a second matmul by m16n8k16, whose K dimension is this matmul's N.
//            No data moves between threads, because a unit has as many columns as that instruction's K.
#pragma once
#include <zellige/atom.hpp>
#include <zellige/atom/mma_coordinates.hpp>

namespace zellige {

/// Coordinates of an accumulator: batch, row and column.
struct FragmentAt {
  int b, m, n;
};

/// A thread's accumulators of a (Batch, M, N) matmul over WB x WM x WN x WK warps, uninitialised. my_b, my_m and my_n
/// are the numbers of batches, of tiles along M and of units along N that one warp computes.
template <int Batch, int M, int N, int WB = 1, int WM = 1, int WN = 1, int WK = 1,
          class Of = SM80_16x8x16_F32F16F16F32_TN>
struct Fragment {
  using Product = Of;
  using Row = MmaRowOf<Product>;
  using Coordinates = MmaCoordinates<Product, MmaPart::c>;
  static constexpr int batch = Batch, rows = M, columns = N;
  static constexpr int warps_b = WB, warps_m = WM, warps_n = WN, warps_k = WK;
  static constexpr int m_tiles = (M + Row::m - 1) / Row::m, n_tiles = (N + Row::n - 1) / Row::n;
  static constexpr int width = n_tiles > 1 && Row::k > Row::n ? 2 : 1;  // tiles per unit
  static constexpr int units = (n_tiles + width - 1) / width;
  static constexpr int my_b = (Batch + WB - 1) / WB, my_m = (m_tiles + WM - 1) / WM, my_n = (units + WN - 1) / WN;
  static constexpr int values_per_tile = Coordinates::values, neighbours = Coordinates::neighbours,
                       tile_runs = values_per_tile / neighbours;  // runs of a thread in one tile
  static constexpr int tiles = my_b * my_m * my_n * width, runs = tiles * tile_runs;
  static constexpr int lines = my_b * my_m * tile_runs;      // rows in which a thread owns elements
  static constexpr int pairs = runs;                         // the runs of a matrix instruction are pairs
  static constexpr int lanes_of_line = Row::n / neighbours;  // adjacent lanes that share a row of a matrix instruction

  float d[tiles][values_per_tile];

  ZELLIGE_CALL void clear() { fill(0); }
  ZELLIGE_CALL void fill(float x) {
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int v = 0; v < values_per_tile; ++v) d[i][v] = x;
  }
  /// Returns a pointer to the accumulators of the thread's i-th run: `neighbours` adjacent columns of one row.
  ZELLIGE_CALL float* run(int i) { return &d[i / tile_runs][i % tile_runs * neighbours]; }
  /// Returns a pointer to the thread's i-th pair: the accumulators of two adjacent columns of one row. Compile error
  /// for an OuterProduct whose threads own 1 or 4 adjacent columns.
  ZELLIGE_CALL float* pair(int i) {
    static_assert(neighbours == 2, "Fragment: a thread's neighbours in a row are no pair");
    return run(i);
  }

  /// Returns the index along M, below WM, of warp number `warp` of the block.
  ZELLIGE_CALL static int warp_m(int warp) { return warp % WM; }
  /// Returns the index along the batch, below WB, of warp number `warp` of the block.
  ZELLIGE_CALL static int warp_b(int warp) { return warp / WM % WB; }
  /// Returns the index along N, below WN, of warp number `warp` of the block.
  ZELLIGE_CALL static int warp_n(int warp) { return warp / (WM * WB) % WN; }
  /// Returns the index along K, below WK, of warp number `warp` of the block. N and K vary slowest in a warp's number,
  /// so that warps along N can be the warps along K of a second matmul that uses the result as an Operand.
  ZELLIGE_CALL static int warp_k(int warp) { return warp / (WM * WB * WN); }

  /// Returns the coordinates of the first element of the thread's i-th run of adjacent columns. The coordinates may lie
  /// outside the matrix if the tiles and warps do not divide Batch, M or N.
  ZELLIGE_CALL static FragmentAt at(int i, int warp, int lane) {
    const int tile = i / tile_runs, unit = tile / width % my_n, mi = tile / (width * my_n) % my_m,
              bi = tile / (width * my_n * my_m);
    const ElementAt e = Coordinates::at(lane, i % tile_runs * neighbours);
    return {bi * WB + warp_b(warp), (mi * WM + warp_m(warp)) * Row::m + e.row,
            ((unit * WN + warp_n(warp)) * width + tile % width) * Row::n + e.column};
  }
  /// Returns the index of the run (adjacent columns of a row) that has the same row and column as run i, but belongs
  /// to the other batch of the pair of batches (2 j, 2 j + 1). Requires WB = 1.
  ZELLIGE_CALL static constexpr int other(int i) {
    constexpr int matrix = runs / my_b;
    return (i / matrix ^ 1) * matrix + i % matrix;
  }
  /// Returns the index of the n-th run (adjacent columns of a row) in an order that takes batches in pairs and
  /// alternates between the two batches of a pair: run 0 of batch 0, run 0 of batch 1, run 1 of batch 0, ...
  ZELLIGE_CALL static constexpr int of_pair(int n) {
    constexpr int matrix = runs / my_b;
    return n / (2 * matrix) * (2 * matrix) + n % 2 * matrix + n / 2 % matrix;
  }
  /// Returns which of the thread's `lines` rows, numbered from 0, contains run i (a group of adjacent columns).
  ZELLIGE_CALL static constexpr int line(int i) { return i / (tile_runs * width * my_n) * tile_runs + i % tile_runs; }
  /// Returns the coordinates of the element in column 0 of the thread's r-th row.
  ZELLIGE_CALL static FragmentAt line_at(int r, int warp, int lane) {
    const int mi = r / tile_runs % my_m, bi = r / tile_runs / my_m;
    return {bi * WB + warp_b(warp),
            (mi * WM + warp_m(warp)) * Row::m + Coordinates::at(lane, r % tile_runs * neighbours).row, 0};
  }
#if defined(ZELLIGE_EMULATE)
  [[no_unique_address]] emulate::Registers<Fragment> unwritten{&d[0][0], tiles* values_per_tile};
#endif
};

/// The A fragments, in registers, of a matmul whose K dimension is the columns of fragment F. Elements have type T.
template <class T, class F>
struct Operand {
  uint32_t a[F::my_b][F::my_m][F::my_n][4];

  /// Stores x and y, rounded to T, in this Operand. They are the values of pair i of a Fragment F.
  ZELLIGE_CALL void put(int i, float x, float y) {
    static_assert(F::width * F::Row::n == 16, "Operand: the producer needs whole units of 16 columns");
#if defined(ZELLIGE_EMULATE)
    emulate::look_for_unwritten(x, emulate::Use::rounds), emulate::look_for_unwritten(y, emulate::Use::rounds);
#endif
    constexpr int pairs = F::tile_runs, width = F::width;
    const int tile = i / pairs, unit = tile / width % F::my_n, mi = tile / (width * F::my_n) % F::my_m,
              bi = tile / (width * F::my_n * F::my_m);
    a[bi][mi][unit][tile % width * pairs + i % pairs] = pack<T>(x, y);
  }
#if defined(ZELLIGE_EMULATE)
  unsigned declared = emulate::leave_unwritten_pairs(&a[0][0][0][0], F::my_b* F::my_m* F::my_n * 4);
  ZELLIGE_CALL uint32_t get(int bi, int mi, int unit, int j) const {
    emulate::look_for_unwritten_pair(a[bi][mi][unit][j], declared, ((bi * F::my_m + mi) * F::my_n + unit) * 4 + j);
    return a[bi][mi][unit][j];
  }
#else
  ZELLIGE_CALL uint32_t get(int bi, int mi, int unit, int j) const { return a[bi][mi][unit][j]; }
#endif
};

}  // namespace zellige
