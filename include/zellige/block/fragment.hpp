// Defines Fragment: a thread's float32 accumulators of a block's batched matmul, distributed over the block's warps.
// WB x WM x WN warps divide the (Batch, M, N) accumulators; WK warps per tile accumulate over different slices of K.
//
//   Fragment<1, 16, 64, 1, 1, 4> d;
//   for (int i = 0; i < d.pairs; ++i) {
//     const auto at = d.at(i, warp, lane);          // element (at.b, at.m, at.n) and its right neighbour
//     d.pair(i)[0] += 1, d.pair(i)[1] += 1;
//   }
//
// The template argument `Of` is the instruction, m16n8k16 by default, or an OuterProduct. It sets the tile's size m x n
// and the coordinates of its accumulators.
//
//   unit     columns that belong to one warp: two adjacent tiles of m16n8k16, 16 columns, or one tile of other
//            instructions. Warp w along N owns units w, w + WN, ...
//   run      the adjacent columns of one row that a thread owns in a tile: a pair of matrix instructions
//   Operand  the accumulators rounded to A fragments of a second matmul, whose K runs over this matmul's columns. No
//            data moves between threads, because a unit has as many columns as the instruction's K.
#pragma once
#include <zellige/atom.hpp>
#include <zellige/atom/mma_coordinates.hpp>

namespace zellige {

/// Coordinates of an accumulator: batch, row and column.
struct FragmentAt {
  int b, m, n;
};

/// A thread's accumulators of a (Batch, M, N) matmul over WB x WM x WN x WK warps, uninitialised. my_b, my_m and my_n
/// count the batches, tiles along M and units along N of one warp.
template <int Batch, int M, int N, int WB = 1, int WM = 1, int WN = 1, int WK = 1,
          class Of = SM80_16x8x16_F32F16F16F32_TN>
struct Fragment {
  using Product = Of;
  using Row = MmaRowOf<Product>;
  using Coordinates = MmaCoordinates<Product, MmaPart::c>;
  static constexpr int batch = Batch, rows = M, columns = N;
  static constexpr int warps_b = WB, warps_m = WM, warps_n = WN, warps_k = WK;
  static constexpr int m_tiles = (M + Row::m - 1) / Row::m, n_tiles = (N + Row::n - 1) / Row::n;
  static constexpr int width = n_tiles > 1 && Row::k > Row::n ? Row::k / Row::n : 1;  // tiles per unit
  static constexpr int units = (n_tiles + width - 1) / width;
  static constexpr int my_b = (Batch + WB - 1) / WB, my_m = (m_tiles + WM - 1) / WM,
                       my_n = (units + WN - 1) / WN;
  static constexpr int values_per_tile = Coordinates::values, neighbours = Coordinates::neighbours,
                       tile_runs =
                           values_per_tile / neighbours;  // in a tile, per thread; a run is part of one row
  static constexpr int tiles = my_b * my_m * my_n * width, runs = tiles * tile_runs;
  static constexpr int lines = my_b * my_m * tile_runs;  // rows in which a thread owns elements
  static constexpr int pairs = runs;                     // the runs of a matrix instruction are pairs

  float d[tiles][values_per_tile];

  ZELLIGE_CALL void clear() { fill(0); }
  ZELLIGE_CALL void fill(float x) {
#pragma unroll
    for (int i = 0; i < tiles; ++i)
#pragma unroll
      for (int v = 0; v < values_per_tile; ++v) d[i][v] = x;
  }
  /// Returns a pointer to the accumulators of run i: `neighbours` adjacent columns of one row.
  ZELLIGE_CALL float* run(int i) { return &d[i / tile_runs][i % tile_runs * neighbours]; }
  /// Returns a pointer to the i-th pair: accumulators of two adjacent columns of one row. Does not compile for an
  /// OuterProduct whose threads own another number of adjacent columns.
  ZELLIGE_CALL float* pair(int i) {
    static_assert(neighbours == 2, "Fragment: a thread's neighbours in a row are no pair");
    return run(i);
  }

  // A warp's index along M, batch, N and K. N and K vary slowest, so that warps along N can be the warps along K of a
  // second matmul that uses the result as Operand.
  ZELLIGE_CALL static int warp_m(int warp) { return warp % WM; }
  ZELLIGE_CALL static int warp_b(int warp) { return warp / WM % WB; }
  ZELLIGE_CALL static int warp_n(int warp) { return warp / (WM * WB) % WN; }
  ZELLIGE_CALL static int warp_k(int warp) { return warp / (WM * WB * WN); }

  /// Returns the coordinates of the first element of run i, the thread's i-th group of adjacent columns. They may lie
  /// outside the matrix if tiles and warps do not divide Batch, M or N.
  ZELLIGE_CALL static FragmentAt at(int i, int warp, int lane) {
    const int tile = i / tile_runs, unit = tile / width % my_n, mi = tile / (width * my_n) % my_m,
              bi = tile / (width * my_n * my_m);
    const ElementAt e = Coordinates::at(lane, i % tile_runs * neighbours);
    return {bi * WB + warp_b(warp), (mi * WM + warp_m(warp)) * Row::m + e.row,
            ((unit * WN + warp_n(warp)) * width + tile % width) * Row::n + e.column};
  }
  /// For adjacent batches 2 j and 2 j + 1: returns the run of the other batch that has the same row and column as run
  /// i. Requires WB = 1.
  ZELLIGE_CALL static constexpr int other(int i) {
    constexpr int matrix = runs / my_b;
    return (i / matrix ^ 1) * matrix + i % matrix;
  }
  /// For adjacent batches 2 j and 2 j + 1: returns the run at position n of the order that alternates between them: run
  /// 0 of the first, run 0 of the second, run 1 of the first, ...
  ZELLIGE_CALL static constexpr int of_pair(int n) {
    constexpr int matrix = runs / my_b;
    return n / (2 * matrix) * (2 * matrix) + n % 2 * matrix + n / 2 % matrix;
  }
  /// Returns the index, below `lines`, of the thread's row that contains run i (a group of adjacent columns).
  ZELLIGE_CALL static constexpr int line(int i) {
    return i / (tile_runs * width * my_n) * tile_runs + i % tile_runs;
  }
  /// Returns the coordinates of column 0 in the thread's r-th row.
  ZELLIGE_CALL static FragmentAt line_at(int r, int warp, int lane) {
    const int mi = r / tile_runs % my_m, bi = r / tile_runs / my_m;
    return {bi * WB + warp_b(warp),
            (mi * WM + warp_m(warp)) * Row::m + Coordinates::at(lane, r % tile_runs * neighbours).row, 0};
  }
#if defined(ZELLIGE_EMULATE)
  [[no_unique_address]] emulate::Registers<Fragment> unwritten{&d[0][0], tiles* values_per_tile};
#endif
};

/// The A fragments, in registers, of a matmul whose K runs over the columns of fragment F. T is their type.
template <class T, class F>
struct Operand {
  uint32_t a[F::my_b][F::my_m][F::my_n][4];

  /// Stores x and y, the accumulators of pair i of the fragment F, rounded to T.
  ZELLIGE_CALL void put(int i, float x, float y) {
    static_assert(F::width * F::Row::n == F::Row::k, "Operand: the producer needs whole units of 16 columns");
#if defined(ZELLIGE_EMULATE)
    emulate::look_for_unwritten(x, emulate::Use::rounds),
        emulate::look_for_unwritten(y, emulate::Use::rounds);
#endif
    constexpr int pairs = F::tile_runs, width = F::width;
    const int tile = i / pairs, unit = tile / width % F::my_n, mi = tile / (width * F::my_n) % F::my_m,
              bi = tile / (width * F::my_n * F::my_m);
    a[bi][mi][unit][tile % width * pairs + i % pairs] = pack<T>(x, y);
  }
#if defined(ZELLIGE_EMULATE)
  unsigned declared = emulate::leave_unwritten_pairs(&a[0][0][0][0], F::my_b* F::my_m* F::my_n * 4);
  ZELLIGE_CALL uint32_t get(int bi, int mi, int unit, int j) const {
    emulate::look_for_unwritten_pair(a[bi][mi][unit][j], declared,
                                     ((bi * F::my_m + mi) * F::my_n + unit) * 4 + j);
    return a[bi][mi][unit][j];
  }
#else
  ZELLIGE_CALL uint32_t get(int bi, int mi, int unit, int j) const { return a[bi][mi][unit][j]; }
#endif
};

}  // namespace zellige
