// Describes wgmma's operands in shared memory: tiles as TMA writes them with a 128-byte (or 64-byte) swizzle. A tile
// wider than the swizzle span (128 or 64 bytes) consists of slabs, which are one span wide and follow one another in
// memory. An operand object returns the shared-memory descriptor of each K step.
//
//   // d += a b over 4 steps of 32 bytes of K; a: 64 rows, K-contiguous; b: 128 columns, N-contiguous, K = 64
//   issue_wgmma<half_t, 4>(d, k_major<64>(a), mn_major<128, 64>(b), true);    // float d[64]: a warpgroup's 64 x 128
//   wgmma_commit(), wgmma_wait<0>();                                          // d may be read
#pragma once
#include <zellige/atom/wgmma_call.hpp>

namespace zellige {

/// A K-major tile of `Rows` rows with the 128-byte swizzle. A slab has 128 bytes of K for all rows; a(step) returns the
/// descriptor of the 32 bytes of K that step number `step` multiplies.
template <int Rows>
struct KMajor {
  static constexpr Major major = Major::K;
  uint64_t descriptor;
  ZELLIGE_CALL uint64_t operator()(int step) const {
    return advance(descriptor, step / 4 * (Rows * 128) + step % 4 * 32);
  }
};
/// Returns the K-major operand of `Rows` rows at the address `tile`, a multiple of 1024 bytes.
template <int Rows>
ZELLIGE_CALL KMajor<Rows> k_major(any_pointer tile) {
  return {smem_descriptor(tile, 16, 1024, SwizzleMode::b128)};
}

/// Returns the operand that begins `rows` rows after the first row of a; `rows` is a multiple of 64.
template <int Rows>
ZELLIGE_CALL KMajor<Rows> below(const KMajor<Rows>& a, int rows) {
  return {advance(a.descriptor, rows * 128)};
}

/// An MN-major tile of 16-bit elements: `Columns` along M or N by `Depth` along K. A slab has Depth rows of one swizzle
/// span along M or N; a(step) returns the descriptor of the 16 elements of K that step number `step` multiplies.
template <int Columns, int Depth, SwizzleMode Mode = SwizzleMode::b128>
struct MnMajor {
  static constexpr Major major = Major::MN;
  static constexpr unsigned span = swizzle_span(Mode);
  uint64_t descriptor;
  ZELLIGE_CALL uint64_t operator()(int step) const { return advance(descriptor, step * 16 * span); }
};
/// Returns the MN-major operand of `Columns` elements along M or N by `Depth` along K at the address `tile`, a
/// multiple of 8 swizzle spans (1024 bytes for b128).
template <int Columns, int Depth, SwizzleMode Mode = SwizzleMode::b128>
ZELLIGE_CALL MnMajor<Columns, Depth, Mode> mn_major(any_pointer tile) {
  constexpr unsigned span = MnMajor<Columns, Depth, Mode>::span;
  return {smem_descriptor(tile, 2 * Columns > int(span) ? Depth * span : 16, 8 * span, Mode)};
}

/// Returns the operand that begins `rows` elements after the first one of a along M or N; `rows` is a multiple of the
/// swizzle span.
template <int Columns, int Depth, SwizzleMode Mode>
ZELLIGE_CALL MnMajor<Columns, Depth, Mode> below(const MnMajor<Columns, Depth, Mode>& a, int rows) {
  constexpr unsigned span = MnMajor<Columns, Depth, Mode>::span;
  return {advance(a.descriptor, rows * 2 / span * (Depth * span))};
}

/// Issues d = a b + (accumulate ? d : 0) over `Steps` times 32 bytes of K, without committing the wgmma group. a is an
/// operand in shared memory, or an array with the A registers of each step. Called by all 128 threads of the warpgroup.
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
