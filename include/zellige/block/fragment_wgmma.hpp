// wgmma on a Fragment: each four warps along M issue one wgmma for each 64 of their rows.
//
//   Fragment<1, 128, 256, 1, 8> d;                        // 8 warps, two warpgroups, one below the other
//   d.clear();
//   issue_wgmma<half_t, 4>(d, k_major<128>(rows_of(sA, warp)), mn_major<256, 64>(sB));
//   wgmma_commit(), wgmma_wait<0>();                      // d may be read
//
// Warps' rows of 16 and the tiles of 8 columns have the same registers in a Fragment as in wgmma's
// accumulators; the planner proves it for the instruction that it selects.
#pragma once
#include <zellige/block/fragment.hpp>
#include <zellige/block/wgmma_operand.hpp>

namespace zellige {

/// Computes d = a b + (accumulate ? d : 0) over `Steps` times 32 bytes of K; a begins at the warpgroup's first
/// 64 rows, its others follow every 16 * WM rows. The matrices of a batch share a and are adjacent in b. Does
/// not commit the group. N may end within the last unit of 16 columns, but b must have the whole unit; where the
/// Fragment's tiles of 8 are single (Of: m16n8k8), N is a multiple of 8.
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

/// The same with A in registers: the rounded accumulators of another matmul.
template <class T, int Steps, int M, int N, int WM, class F, class B>
ZELLIGE_CALL void issue_wgmma(Fragment<1, M, N, 1, WM, 1, 1>& d, const Operand<T, F>& a, const B& b,
                              bool accumulate = true) {
  static_assert(F::rows == M && F::warps_m == WM && F::my_n == Steps && F::my_b * F::my_m == 1,
                "issue_wgmma: rows of the operand are those of the accumulators, its columns are K");
  issue_wgmma<T, Steps>(reinterpret_cast<float(&)[sizeof(d.d) / sizeof(float)]>(d.d), a.a[0][0], b,
                        accumulate);
}

}  // namespace zellige
