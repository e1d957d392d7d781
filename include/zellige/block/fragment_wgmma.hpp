// A Fragment's product by warpgroups: each four warps along M issue wgmma for their 64 rows.
//
//   Fragment<1, 128, 256, 1, 8> d;                        // 8 warps, two warpgroups, one below the other
//   d.clear();
//   issue_wgmma<half_t, 4>(d, k_major<128>(rows_of(sA, warp)), mn_major<256, 64>(sB));
//   wgmma_commit(), wgmma_wait<0>();                      // d may be read
//
// Warps' rows of 16 and the tiles of 8 columns lie in a Fragment's registers as wgmma leaves them; the planner proves it of
// the row that it chose.
#pragma once
#include <zellige/block/fragment.hpp>
#include <zellige/block/wgmma_operand.hpp>

namespace zellige {

/// d = a b + (accumulate ? d : 0), `Steps` times 32 bytes of K; a is the warpgroup's own 64 rows. Matrices of a batch share it, and
/// lie side by side in b. Not yet a group. N may end within the last unit of 16 columns, of which b then has all.
template <class T, int Steps, int Batch, int M, int N, int WM, class A, class B>
ZELLIGE_CALL void issue_wgmma(Fragment<Batch, M, N, 1, WM, 1, 1>& d, const A& a, const B& b,
                              bool accumulate = true) {
  static_assert(
      M == 16 * WM && WM % 4 == 0 && (N % 16 == 0 || Batch == 1),
      "issue_wgmma: each four warps take 64 rows, matrices side by side come in units of 16 columns");
  issue_wgmma<T, Steps>(reinterpret_cast<float(&)[sizeof(d.d) / sizeof(float)]>(d.d), a, b, accumulate);
}

/// The same of the accumulators of another product, rounded.
template <class T, int Steps, int M, int N, int WM, class F, class B>
ZELLIGE_CALL void issue_wgmma(Fragment<1, M, N, 1, WM, 1, 1>& d, const Operand<T, F>& a, const B& b,
                              bool accumulate = true) {
  static_assert(F::rows == M && F::warps_m == WM && F::my_n == Steps && F::my_b * F::my_m == 1,
                "issue_wgmma: rows of the operand are those of the sums, its columns are K");
  issue_wgmma<T, Steps>(d, a.a[0][0], b, accumulate);
}

}  // namespace zellige
