// Operands of wgmma in shared memory: tiles as TMA writes them with a swizzle, one span of 128 (or 64) bytes
// of all rows after another; a descriptor addresses the operand of each K step.
//
//   issue_wgmma<half_t, 4>(d, k_major<64>(a), mn_major<128, 64>(b), false);   // float d[64]: 64 x 128 of a warpgroup
//   wgmma_commit(), wgmma_wait<0>();                                          // d may be read
#pragma once
#include <zellige/atom/wgmma_call.hpp>

namespace zellige {

/// A K-major tile: each of the rows has 128 bytes of K.
template <int Rows>
struct KMajor {
  static constexpr Major major = Major::K;
  uint64_t descriptor;
  ZELLIGE_CALL uint64_t operator()(int step) const {
    return advance(descriptor, step / 4 * (Rows * 128) + step % 4 * 32);
  }
};
template <int Rows>
ZELLIGE_CALL KMajor<Rows> k_major(any_pointer tile) {
  return {smem_descriptor(tile, 16, 1024, SwizzleMode::b128)};
}

/// The operand that begins `rows` rows below, a multiple of 64.
template <int Rows>
ZELLIGE_CALL KMajor<Rows> below(const KMajor<Rows>& a, int rows) {
  return {advance(a.descriptor, rows * 128)};
}

/// An MN-major tile: `Depth` rows of K, each a span of M or N; 16-bit elements, 16 rows per step.
template <int Columns, int Depth, SwizzleMode Mode = SwizzleMode::b128>
struct MnMajor {
  static constexpr Major major = Major::MN;
  static constexpr unsigned span = swizzle_span(Mode);
  uint64_t descriptor;
  ZELLIGE_CALL uint64_t operator()(int step) const { return advance(descriptor, step * 16 * span); }
};
template <int Columns, int Depth, SwizzleMode Mode = SwizzleMode::b128>
ZELLIGE_CALL MnMajor<Columns, Depth, Mode> mn_major(any_pointer tile) {
  constexpr unsigned span = MnMajor<Columns, Depth, Mode>::span;
  return {smem_descriptor(tile, 2 * Columns > int(span) ? Depth * span : 16, 8 * span, Mode)};
}

template <int Columns, int Depth, SwizzleMode Mode>
ZELLIGE_CALL MnMajor<Columns, Depth, Mode> below(const MnMajor<Columns, Depth, Mode>& a, int rows) {
  constexpr unsigned span = MnMajor<Columns, Depth, Mode>::span;
  return {advance(a.descriptor, rows * 2 / span * (Depth * span))};
}

/// Computes d = a b + (accumulate ? d : 0) over `Steps` times 32 bytes of K, without committing the group. A:
/// a tile, or registers for each step.
template <class T, int Steps, int R, class A, class B>
ZELLIGE_CALL void issue_wgmma(float (&d)[R], const A& a, const B& b, bool accumulate) {
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < Steps; ++i) {
    if constexpr (requires { A::major; })
      wgmma<T, A::major, B::major>(d, a(i), b(i), i > 0 || accumulate);
    else
      wgmma<T, B::major>(d, a[i], b(i), i > 0 || accumulate);
  }
}

}  // namespace zellige
