// multiply_wgmma: a K tile in shared memory times another, on wgmma, as one group of instructions.
//
//   Accumulator<WgmmaOf<half_t, 128>> d;
//   multiply_wgmma<half_t, 4>(d, k_major<64>(a), k_major<128>(b), /*accumulate=*/false);   // K = 4 * 32 bytes
//   wgmma_wait<0>();                                      // d may be read
//
//   multiply_wgmma<half_t, 8>(d, p, mn_major<128, 128>(v), true);    // uint32_t p[8][4]; v is 128 of K by 128 of N
//
// Operands are tiles as TMA leaves them with a swizzle, one span of 128 (or 64) bytes by all rows behind the other.
#pragma once
#include <zellige/atom/wgmma.hpp>
#include <zellige/block/accumulator.hpp>

namespace zellige {

/// Rows of K, 128 bytes of it a line.
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

/// `Depth` lines of K, each a span of M or N; 16-bit elements, 16 lines a step.
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

/// d = a b + (accumulate ? d : 0), `Steps` times 32 bytes of K. A: a tile, or registers of each step.
template <class T, int Steps, class Instruction, class A, class B>
ZELLIGE_CALL void multiply_wgmma(Accumulator<Instruction>& d, const A& a, const B& b, bool accumulate) {
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < Steps; ++i) {
    if constexpr (requires { A::major; })
      wgmma<T, A::major, B::major>(d.d, a(i), b(i), i > 0 || accumulate);
    else
      wgmma<T, B::major>(d.d, a[i], b(i), i > 0 || accumulate);
  }
  wgmma_commit();
}

}  // namespace zellige
