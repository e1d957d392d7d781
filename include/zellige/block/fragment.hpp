// Fragment: the float32 accumulators of a block's matrix product, Batch x M x N over WB x WM x WN warps; WK warps more
// share each tile and hold sums over different slices of K.
//
//   Fragment<1, 16, 64, 1, 1, 4> d;
//   for (int i = 0; i < d.pairs; ++i) {
//     const auto at = d.at(i, warp, lane);          // element (at.b, at.m, at.n) and its right neighbour
//     d.pair(i)[0] += 1, d.pair(i)[1] += 1;
//   }
//
// Warps take 16-row tiles and, where N has two, pairs of 8-column tiles in turn: warp w holds units w, w + WN, ... of
// 16 columns. That makes the accumulators of a product, rounded, the A fragment of a next one whose K runs over the
// same columns: Operand.
#pragma once
#include <zellige/atom.hpp>

namespace zellige {

struct FragmentAt {
  int b, m, n;
};

template <int Batch, int M, int N, int WB = 1, int WM = 1, int WN = 1, int WK = 1>
struct Fragment {
  static constexpr int batch = Batch, rows = M, columns = N;
  static constexpr int warps_b = WB, warps_m = WM, warps_n = WN, warps_k = WK;
  static constexpr int m_tiles = (M + 15) / 16, n_tiles = (N + 7) / 8;
  static constexpr int width = n_tiles > 1 ? 2 : 1;  // 8-column tiles a unit
  static constexpr int units = (n_tiles + width - 1) / width;
  static constexpr int my_b = (Batch + WB - 1) / WB, my_m = (m_tiles + WM - 1) / WM,
                       my_n = (units + WN - 1) / WN;
  static constexpr int tiles = my_b * my_m * my_n * width, pairs = tiles * 2;
  static constexpr int lines = my_b * my_m * 2;  // rows that a thread has elements of

  float d[tiles][4];

  ZELLIGE_CALL void clear() { fill(0); }
  ZELLIGE_CALL void fill(float x) {
#pragma unroll
    for (int i = 0; i < tiles; ++i) d[i][0] = d[i][1] = d[i][2] = d[i][3] = x;
  }
  ZELLIGE_CALL float* pair(int i) { return &d[i / 2][i % 2 * 2]; }

  // Along N and along K last: the warps along N of one product are the warps along K of a next one (Operand).
  ZELLIGE_CALL static int warp_m(int warp) { return warp % WM; }
  ZELLIGE_CALL static int warp_b(int warp) { return warp / WM % WB; }
  ZELLIGE_CALL static int warp_n(int warp) { return warp / (WM * WB) % WN; }
  ZELLIGE_CALL static int warp_k(int warp) { return warp / (WM * WB * WN); }

  /// The first element of pair i. Beyond the matrix where M, N or Batch do not divide.
  ZELLIGE_CALL static FragmentAt at(int i, int warp, int lane) {
    const int tile = i / 2, unit = tile / width % my_n, mi = tile / (width * my_n) % my_m,
              bi = tile / (width * my_n * my_m);
    return {bi * WB + warp_b(warp), (mi * WM + warp_m(warp)) * 16 + i % 2 * 8 + lane / 4,
            ((unit * WN + warp_n(warp)) * width + tile % width) * 8 + lane % 4 * 2};
  }
  /// Which of the thread's lines pair i lies in, and where line r is: column 0 of it.
  ZELLIGE_CALL static constexpr int line(int i) { return i / (2 * width * my_n) * 2 + i % 2; }
  ZELLIGE_CALL static FragmentAt line_at(int r, int warp, int lane) {
    const int mi = r / 2 % my_m, bi = r / 2 / my_m;
    return {bi * WB + warp_b(warp), (mi * WM + warp_m(warp)) * 16 + r % 2 * 8 + lane / 4, 0};
  }
#if defined(ZELLIGE_EMULATE)
  [[no_unique_address]] emulate::Registers<Fragment> unwritten{&d[0][0], tiles * 4};
#endif
};

/// The A fragments of a product whose K runs over the columns of fragment F: pair i of F, rounded to T.
template <class T, class F>
struct Operand {
  uint32_t a[F::my_b][F::my_m][F::my_n][4];

  ZELLIGE_CALL void put(int i, float x, float y) {
    static_assert(F::width == 2, "Operand: the producer needs whole units of 16 columns");
#if defined(ZELLIGE_EMULATE)
    emulate::look_for_unwritten(x, emulate::Use::rounds),
        emulate::look_for_unwritten(y, emulate::Use::rounds);
#endif
    const int tile = i / 2, unit = tile / 2 % F::my_n, mi = tile / (2 * F::my_n) % F::my_m,
              bi = tile / (2 * F::my_n * F::my_m);
    a[bi][mi][unit][tile % 2 * 2 + i % 2] = pack<T>(x, y);
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
