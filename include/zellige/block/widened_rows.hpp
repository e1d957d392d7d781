// Widens a block's weights of 4 or 8 bits, whose bytes are in shared memory, into the A registers of a product by wgmma. The product
// is turned: the weights' rows are wgmma's M.
//
//   using F = Fragment<1, 128, 64, 1, 8, 1, 1>;                                      // 128 rows, 64 of K, eight warps
//   Operand<half_t, F> a;
//   WidenedRows<half_t, uint4_packed, F, 64, 64> rows;
//   rows.load(bytes, scales, zeros, warp, lane);                                     // a product may still read a
//   rows.widen<true, true, false>(a);                                                // a = (q - zero) * scale
//   issue_wgmma<half_t, 4>(d, a, k_major<256>(sX)), wgmma_commit();                  // d += a X
//
// The caller's functions return where a number lies: bytes(n, i), byte i of the tile's row n, in shared memory; scales(n, r) and
// zeros(n, r), those of run number r of K; NoNumbers: there are none. They clamp n to rows that exist.
#pragma once
#include <zellige/atom/float8.hpp>
#include <zellige/atom/shuffle.hpp>
#include <zellige/block/fragment.hpp>
#include <zellige/block/multiply_widened.hpp>

namespace zellige {
namespace detail {

/// Returns elements 0 and 1 of the 16 low bits of `bytes`, two numbers of 8 bits, as a pair of T, exactly.
template <class T, class Byte>
ZELLIGE_CALL uint32_t widened_bytes(uint32_t bytes) {
  if constexpr (is_same_v<Byte, int8_t>) {
    const uint32_t flipped = bytes ^ 0x8080u, low = flipped & 0xff, high = flipped >> 8 & 0xff;
    if constexpr (is_same_v<T, half_t>)  // 1024 + 128 + q
      return pair_sub<T>((low | high << 16) | 0x64006400u, 0x64806480u);
    else
      return pack<T>(small_number<float>(low, 128), small_number<float>(high, 128));
  } else {
#if defined(__CUDA_ARCH__)
    uint32_t halves;
    if constexpr (is_same_v<Byte, float_e4m3_t>)
      asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(uint16_t(bytes)));
    else
      asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(uint16_t(bytes)));
    if constexpr (is_same_v<T, half_t>) return halves;
    const Vec<float, 2> x = unpack<half_t>(halves);
    return pack<T>(x[0], x[1]);
#else
    return pack<T>(float(Byte::bitcast(uint8_t(bytes))), float(Byte::bitcast(uint8_t(bytes >> 8))));
#endif
  }
}

/// Returns the bits of elements 2 c and 2 c + 1 of the eight in a word of numbers of 4 bits, in bits 0 to 3 and 16 to 19.
ZELLIGE_CALL uint32_t nibble_pair(uint32_t word, int c) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(word, word >> 4, uint32_t(c | (4 + c) << 8));
#else
  return (word >> 8 * c & 0xf) | (word >> (8 * c + 4) & 0xf) << 16;
#endif
}

template <class Packed>
inline constexpr int packed_bits = 8;
template <>
inline constexpr int packed_bits<int4_packed> = 4;
template <>
inline constexpr int packed_bits<uint4_packed> = 4;
template <>
inline constexpr int packed_bits<e2m1_packed> = 4;
}  // namespace detail

/// What a thread holds of the weights while it widens them into an operand of K columns, 64 or 128, that is the A of F's rows.
///
/// The four lanes that need a row's elements load a quarter of them each, and exchange them: of each step of 16 elements of K lane c
/// takes 2 c, 2 c + 1, 2 c + 8 and 2 c + 9.
template <class T, class Packed, class F, int ScaleRun, int ZeroRun>
struct WidenedRows {
  static constexpr int depth = F::columns, once = 16 * F::warps_m, times = F::rows / once;  // K; rows at a time
  static constexpr int bits = detail::packed_bits<Packed>;
  static constexpr int lane_words = depth * bits / 128,
                       lane_steps = depth / 64;  // of a row; steps of 16 elements whose bytes a lane loads
  static constexpr int groups = lane_words < 4 ? 1 : lane_words / 4;  // of 16 bytes, which have a word for each lane
  static constexpr int scale_runs = (depth + ScaleRun - 1) / ScaleRun, zero_runs = (depth + ZeroRun - 1) / ZeroRun;
  static_assert((depth == 64 || depth == 128) && F::rows % once == 0 && F::batch == 1,
                "WidenedRows: K is 64 or 128, and warps have whole tiles of 16 rows");

  uint32_t mine[times][2][groups][4];  // of a row and a group, what lane i of the four has loaded
  uint32_t scale[times][2][scale_runs], zero[times][2][zero_runs];

  /// Loads the scales and zero points, and the bytes, and exchanges these among the lanes of a row. Called by all warps of F.
  template <class Bytes, class Scales, class Zeros>
  ZELLIGE_CALL void load(const Bytes& bytes, const Scales& scales, const Zeros& zeros, int warp, int lane) {
    constexpr int vector = 4 * lane_words < 16 ? 4 * lane_words : 16;
    uint32_t loaded[times][2][lane_words];
#pragma unroll
    for (int mi = 0; mi < times; ++mi)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int n = mi * once + F::warp_m(warp) * 16 + r * 8 + lane / 4;
        if constexpr (!is_same_v<Scales, NoNumbers>) load_pairs(scale[mi][r], scales, n);
        if constexpr (!is_same_v<Zeros, NoNumbers>) load_pairs(zero[mi][r], zeros, n);
#pragma unroll
        for (int i = 0; i < lane_words; i += vector / 4) {
          const auto several = words(zellige::load<vector>(bytes(n, 4 * (lane % 4 * lane_words + i))));
#pragma unroll
          for (int j = 0; j < vector / 4; ++j) loaded[mi][r][i + j] = several[j];
        }
      }
#pragma unroll
    for (int mi = 0; mi < times; ++mi)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int g = 0; g < groups; ++g) {
#pragma unroll
          for (int c = 0; c < 4; ++c) mine[mi][r][g][c] = for_lane(&loaded[mi][r][4 * g], c);
          exchange(mine[mi][r][g], lane);
        }
  }

  /// Widens all elements into `a`: (q - zero) * scale or, with Added, q * scale + zero.
  template <bool Scales, bool Zeros, bool Added>
  ZELLIGE_CALL void widen(Operand<T, F>& a) {
#pragma unroll
    for (int mi = 0; mi < times; ++mi)
#pragma unroll
      for (int i = 0; i < 4 * (depth / 16); ++i) {  // step i / 4, register i % 4: row i % 2, K from i / 2 % 2 * 8 on
        const int step = i / 4, own = step % lane_steps, half = i / 2 % 2, r = i % 2;
        const uint32_t from = mine[mi][r][bits == 8 ? own : 0][step / lane_steps];
        uint32_t x = 0;
        if constexpr (bits == 4)
          x = detail::widened_pair<T, Packed>(detail::nibble_pair(from, 2 * own + half));
        else
          x = detail::widened_bytes<T, Packed>(from >> 16 * half);
        [[maybe_unused]] const uint32_t &s = scale[mi][r][step * 16 / ScaleRun], &z = zero[mi][r][step * 16 / ZeroRun];
        if constexpr (Zeros && !Added) x = detail::pair_sub<T>(x, z);
        if constexpr (Added)
          x = detail::pair_fma<T>(x, s, z);
        else if constexpr (Scales)
          x = detail::pair_mul<T>(x, s);
        a.a[0][mi][step][i % 4] = x;
      }
  }

 private:
  /// Loads the numbers of row n, each as a pair of itself.
  template <int Runs, class Numbers>
  ZELLIGE_CALL static void load_pairs(uint32_t (&to)[Runs], const Numbers& numbers, int n) {
#pragma unroll
    for (int i = 0; i < Runs; ++i) to[i] = bit_cast<uint16_t>(zellige::load<1>(numbers(n, i))[0]) * 0x10001u;
  }

  /// Returns what lane c of the four takes of a lane's 16 bytes (of 4 bits, where a lane has a single step, of 8).
  ZELLIGE_CALL static uint32_t for_lane(const uint32_t* w, int c) {
    if constexpr (bits == 8) {
      const int shift = c % 2 * 16;
      return (w[c / 2] >> shift & 0xffff) | (w[2 + c / 2] >> shift & 0xffff) << 16;
    } else {
      const uint32_t one = (w[0] >> 8 * c & 0xff) | (w[1] >> 8 * c & 0xff) << 8;
      if constexpr (lane_steps == 1) return one;
      return one | (w[lane_words - 2] >> 8 * c & 0xff) << 16 | (w[lane_words - 1] >> 8 * c & 0xff) << 24;
    }
  }
  /// Lets lane c of the four have what each of them has for lane c: transposes their 4 x 4 words.
  ZELLIGE_CALL static void exchange(uint32_t (&w)[4], int lane) {
#pragma unroll
    for (int bit = 1; bit <= 2; bit *= 2)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (i & bit) continue;
        const bool upper = lane & bit;
        const uint32_t other = shfl_xor(upper ? w[i] : w[i + bit], unsigned(bit));
        if (upper)
          w[i] = other;
        else
          w[i + bit] = other;
      }
  }
};

}  // namespace zellige
