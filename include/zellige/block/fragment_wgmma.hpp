// Issues wgmma for accumulators in a Fragment. A warpgroup (four warps along M) issues one wgmma per 64 rows.
//
//   Fragment<1, 128, 256, 1, 8> d;                        // 8 warps, two warpgroups of 64 rows
//   d.clear();
//   issue_wgmma<half_t, 4>(d, k_major<128>(rows_of(sA, warp)), mn_major<256, 64>(sB));   // d += A B, 4 * 32 bytes of K
//   wgmma_commit(), wgmma_wait<0>();                      // d may be read
//
// rows_of is the caller's: the tile A from the first of the warpgroup's 64 rows on. A Fragment assigns a warp's 16 rows
// to the same registers as wgmma does; the planner proves this for the instruction that it selects. A kernel whose
// warpgroups have tiles of their own uses a WarpgroupFragment for each.
#pragma once
#include <zellige/block/fragment.hpp>
#include <zellige/block/wgmma_operand.hpp>

namespace zellige {

/// A warpgroup's 64 x N accumulators, of any N that wgmma has: a multiple of 8.
template <int N>
using WarpgroupFragment =
    Fragment<1, 64, N, 1, 4, 1, 1,
             conditional_t<N % 16 == 0, SM80_16x8x16_F32F16F16F32_TN, SM80_16x8x8_F32F16F16F32_TN>>;

/// Issues d = a b + (accumulate ? d : 0) over `Steps` times 32 bytes of K, without committing the wgmma group.
///   a   the tile of A, from the warpgroup's first row on. The warpgroup multiplies 64 rows, the 64 rows that begin
///       16 * WM rows further down, and so on: M / (16 * WM) times
///   b   the tile of B: N columns, rounded up to a multiple of 16, or of 8 if Of is m16n8k8
/// All matrices of a batch have the same A; their B matrices are adjacent in b.
template <class T, int Steps, int Batch, int M, int N, int WM, class Of, class A, class B>
ZELLIGE_CALL void issue_wgmma(Fragment<Batch, M, N, 1, WM, 1, 1, Of>& d, const A& a, const B& b,
                              bool accumulate = true) {
  constexpr int once = 16 * WM, times = M / once;  // rows that all warpgroups take at a time
  constexpr int values = sizeof(d.d) / sizeof(float) / times;
  static_assert(M % once == 0 && WM % 4 == 0 && (times == 1 || Batch == 1),
                "issue_wgmma: each four warps take 64 rows at a time, adjacent matrices once");
#pragma unroll
  for (int i = 0; i < times; ++i)
    issue_wgmma<T, Steps>(reinterpret_cast<float(&)[values]>((&d.d[0][0])[i * values]), below(a, i * once), b,
                          accumulate);
}

/// Issues d = a b + (accumulate ? d : 0), where a is in registers: the rounded accumulators of another matmul, whose
/// N dimension is the K of this matmul, or weights that were widened. The other matmul must have the same M and WM as d.
/// `Steps` is the number of 16-element steps of K. Does not commit the wgmma group.
template <class T, int Steps, int M, int N, int WM, class F, class B>
ZELLIGE_CALL void issue_wgmma(Fragment<1, M, N, 1, WM, 1, 1>& d, const Operand<T, F>& a, const B& b,
                              bool accumulate = true) {
  constexpr int times = F::my_m, values = sizeof(d.d) / sizeof(float) / times;
  static_assert(F::rows == M && F::warps_m == WM && F::my_n == Steps && F::my_b == 1,
                "issue_wgmma: rows of the operand are those of the accumulators, its columns are K");
#pragma unroll
  for (int i = 0; i < times; ++i)
    issue_wgmma<T, Steps>(reinterpret_cast<float(&)[values]>((&d.d[0][0])[i * values]), a.a[0][i], b, accumulate);
}

}  // namespace zellige
