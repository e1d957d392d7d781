// multiply: a block's matrix product on mma.sync, operands in shared memory by ldmatrix, or A in registers.
//
//   multiply<half_t, K, AlongK_A, AlongK_B>(d, A, B, warp, lane);    // d += A B
//
// A is a tile of coordinates (b, m, k), B of (b, k, n). AlongK tells which of its two dimensions is contiguous: K, or
// the other one, which ldmatrix then transposes. Rows of 8 elements start at multiples of 16 bytes. Any size goes:
//   K: both tiles hold zeros up to the next multiple of 8; a last step of 8 uses m16n8k8.
//   M, N: rows beyond the tile repeat its last one, and their products land in accumulators that nobody reads.
#pragma once
#include <zellige/block/fragment.hpp>
#include <zellige/block/tile.hpp>

namespace zellige {

/// A fragment of the 16 rows from `m` and the 16 (or 8) columns from `k`.
template <int Steps, bool AlongK, int M, class A>
ZELLIGE_CALL void load_a(uint32_t (&r)[4], const A& a, int b, int m, int k, int lane) {
  if constexpr (AlongK) {
    int row = m + lane % 16;
    if constexpr (M % 16 != 0) row = row < M ? row : M - 1;
    if constexpr (Steps == 16)
      ldmatrix_x4(r, a(b, row, k + lane / 16 * 8));
    else
      ldmatrix_x2(reinterpret_cast<uint32_t(&)[2]>(r), a(b, row, k));
  } else {
    int row = m + lane / 8 % 2 * 8;
    if constexpr (M % 16 != 0) row = row < M ? row : m;
    if constexpr (Steps == 16)
      ldmatrix_x4_trans(r, a(b, row, k + lane / 16 * 8 + lane % 8));
    else
      ldmatrix_x2_trans(reinterpret_cast<uint32_t(&)[2]>(r), a(b, row, k + lane % 8));
  }
}

/// B fragments of `Width` 8-column tiles from `n` and the 16 (or 8) rows from `k`: r[2 * tile], r[2 * tile + 1].
template <int Steps, bool AlongK, int N, int Width, class B>
ZELLIGE_CALL void load_b(uint32_t (&r)[4], const B& b_tile, int b, int k, int n, int lane) {
  const int matrix = lane / 8;
  // Matrices in the order in which r wants them: K first with 16 steps, else one a tile.
  int tile = Steps == 16 ? matrix / 2 : matrix;
  const int half = Steps == 16 ? matrix % 2 : 0;
  if constexpr (Width == 1) tile = 0;
  tile = tile % 2;
  const int row = k + half * 8;
  int column = n + tile * 8;
  if constexpr (AlongK) {
    column += lane % 8;
    if constexpr (N % 16 != 0) column = column < N ? column : N - 1;
  } else {
    if constexpr (N % 16 != 0) column = column < N ? column : n;
  }
  if constexpr (Steps == 16 && Width == 2) {
    if constexpr (AlongK)
      ldmatrix_x4(r, b_tile(b, row, column));
    else
      ldmatrix_x4_trans(r, b_tile(b, row + lane % 8, column));
  } else if constexpr (Steps == 16 || Width == 2) {
    auto& two = reinterpret_cast<uint32_t(&)[2]>(r);
    if constexpr (AlongK)
      ldmatrix_x2(two, b_tile(b, row, column));
    else
      ldmatrix_x2_trans(two, b_tile(b, row + lane % 8, column));
    if constexpr (Steps == 8) r[2] = r[1];  // one register a tile
  } else {
    auto& one = reinterpret_cast<uint32_t(&)[1]>(r);
    if constexpr (AlongK)
      ldmatrix_x1(one, b_tile(b, row, column));
    else
      ldmatrix_x1_trans(one, b_tile(b, row + lane % 8, column));
  }
}

/// One step over K for one batch: A by `fetch(mi, registers)`.
template <class T, int Steps, bool AlongK, class F, class B, class Fetch>
ZELLIGE_CALL void multiply_step(F& d, const B& b_tile, int b, int bi, int k, int warp, int lane,
                                Fetch fetch) {
  uint32_t rb[F::my_n][4];
#pragma unroll
  for (int ni = 0; ni < F::my_n; ++ni) {
    const int unit = ni * F::warps_n + F::warp_n(warp);
    if (F::units % F::warps_n == 0 || unit < F::units)
      load_b<Steps, AlongK, F::columns, F::width>(rb[ni], b_tile, b, k, unit * F::width * 8, lane);
  }
#pragma unroll
  for (int mi = 0; mi < F::my_m; ++mi) {
    const int m_tile = mi * F::warps_m + F::warp_m(warp);
    if (F::m_tiles % F::warps_m != 0 && m_tile >= F::m_tiles) continue;
    uint32_t ra[4];
    fetch(mi, m_tile * 16, ra);
#pragma unroll
    for (int ni = 0; ni < F::my_n; ++ni) {
      const int unit = ni * F::warps_n + F::warp_n(warp);
      if (F::units % F::warps_n != 0 && unit >= F::units) continue;
#pragma unroll
      for (int t = 0; t < F::width; ++t) {
        if (F::n_tiles % F::width != 0 && unit * F::width + t >= F::n_tiles) continue;
        auto& out = d.d[((bi * F::my_m + mi) * F::my_n + ni) * F::width + t];
        if constexpr (Steps == 16) {
          const uint32_t two[2] = {rb[ni][2 * t], rb[ni][2 * t + 1]};
          mma_m16n8k16<T>(out, ra, two);
        } else {
          const uint32_t left[2] = {ra[0], ra[1]}, one[1] = {rb[ni][2 * t]};
          mma_m16n8k8<T>(out, left, one);
        }
      }
    }
  }
}

template <class T, int K, bool AlongK_A, bool AlongK_B, class F, class A, class B>
ZELLIGE_CALL void multiply(F& d, const A& a, const B& b_tile, int warp, int lane) {
  constexpr int k_tiles = (K + 15) / 16, mine = (k_tiles + F::warps_k - 1) / F::warps_k;
  constexpr bool short_tail = K % 16 != 0 && K % 16 <= 8;
#pragma unroll
  for (int bi = 0; bi < F::my_b; ++bi) {
    const int b = bi * F::warps_b + F::warp_b(warp);
    if (F::batch % F::warps_b != 0 && b >= F::batch) continue;
#pragma unroll(mine <= 16 ? mine : 4)
    for (int ki = 0; ki < mine; ++ki) {
      const int kt = ki * F::warps_k + F::warp_k(warp);
      if (k_tiles % F::warps_k != 0 && kt >= k_tiles) continue;
      if (short_tail && kt == k_tiles - 1)
        multiply_step<T, 8, AlongK_B>(
            d, b_tile, b, bi, kt * 16, warp, lane,
            [&](int, int m, uint32_t(&r)[4]) { load_a<8, AlongK_A, F::rows>(r, a, b, m, kt * 16, lane); });
      else
        multiply_step<T, 16, AlongK_B>(
            d, b_tile, b, bi, kt * 16, warp, lane,
            [&](int, int m, uint32_t(&r)[4]) { load_a<16, AlongK_A, F::rows>(r, a, b, m, kt * 16, lane); });
    }
  }
}

/// A in registers: slice ki of K is unit ki of the producer's columns.
template <class T, int K, bool AlongK_B, class F, class P, class B>
ZELLIGE_CALL void multiply(F& d, const Operand<T, P>& a, const B& b_tile, int warp, int lane) {
  static_assert(K % 16 == 0, "multiply: an operand in registers has whole slices of 16");
  constexpr int k_tiles = K / 16;
#pragma unroll
  for (int bi = 0; bi < F::my_b; ++bi) {
    const int b = bi * F::warps_b + F::warp_b(warp);
    if (F::batch % F::warps_b != 0 && b >= F::batch) continue;
#pragma unroll
    for (int ki = 0; ki < P::my_n; ++ki) {
      const int kt = ki * F::warps_k + F::warp_k(warp);
      if (k_tiles % F::warps_k != 0 && kt >= k_tiles) continue;
      multiply_step<T, 16, AlongK_B>(d, b_tile, b, bi, kt * 16, warp, lane,
                                     [&](int mi, int, uint32_t(&r)[4]) {
#pragma unroll
                                       for (int j = 0; j < 4; ++j) r[j] = a.get(bi, mi, ki, j);
                                     });
    }
  }
}

}  // namespace zellige
