// Computes a block's matmul with mma.sync, whose B is of 4 bits in shared memory: each thread loads the bytes of its own
// fragments, and widens them in registers.
//
//   multiply_widened<half_t, uint4_packed, 512, 128, 128>(d, A, bytes, scales, zeros, warp, lane);
//
// A is a tile with coordinates (b, m, k), contiguous along K; `bytes` one with coordinates (k / 2, n), contiguous along K.
// B is (q - zero) * scale: `scales` and `zeros` have coordinates (k / run, n), or are NoNumbers. With Added it is
// q * scale + zero, rounded once.
//
// The four lanes of a column take 32 to 128 elements of K together: each has up to four words of eight neighbours, which it
// loads at once. An instruction multiplies them in another order than that of memory, which is the same for A and B. In a
// word, elements j and j + 4 are 16 bits apart, so that one LOP3 makes two numbers of 16 bits of them.
#pragma once
#include <zellige/atom/unpack.hpp>
#include <zellige/block/multiply.hpp>

namespace zellige {

/// Stands for scales or zero points where there are none.
struct NoNumbers {};

namespace detail {
/// Returns x - y (x * y) of two pairs of numbers of 16 bits, each rounded to nearest even.
template <class T>
ZELLIGE_CALL uint32_t pair_sub(uint32_t x, uint32_t y) {
#if defined(__CUDA_ARCH__)
  uint32_t result;
  if constexpr (is_same_v<T, half_t>)
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(x), "r"(y));
  else
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(0x3f803f80u), "r"(y ^ 0x80008000u));
  return result;
#else
  const Vec<float, 2> a = unpack<T>(x), b = unpack<T>(y);
  return pack<T>(a[0] - b[0], a[1] - b[1]);
#endif
}
template <class T>
ZELLIGE_CALL uint32_t pair_mul(uint32_t x, uint32_t y) {
#if defined(__CUDA_ARCH__)
  uint32_t result;
  if constexpr (is_same_v<T, half_t>)
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(x), "r"(y));
  else
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(0x80008000u));
  return result;
#else
  const Vec<float, 2> a = unpack<T>(x), b = unpack<T>(y);
  return pack<T>(a[0] * b[0], a[1] * b[1]);
#endif
}

/// Returns x * y + z of pairs of numbers of 16 bits, rounded once.
template <class T>
ZELLIGE_CALL uint32_t pair_fma(uint32_t x, uint32_t y, uint32_t z) {
#if defined(__CUDA_ARCH__)
  uint32_t result;
  if constexpr (is_same_v<T, half_t>)
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(z));
  else
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(z));
  return result;
#else
  const Vec<float, 2> a = unpack<T>(x), b = unpack<T>(y), c = unpack<T>(z);
  return pack<T>(a[0] * b[0] + c[0], a[1] * b[1] + c[1]);
#endif
}

/// Returns the numbers in bits 0 to 3 and 16 to 19 of `bits`, whose other bits count for nothing, as a pair of T.
template <class T, class Packed>
ZELLIGE_CALL uint32_t widened_pair(uint32_t bits) {
  constexpr bool is_half = is_same_v<T, half_t>;
  if constexpr (is_same_v<Packed, e2m1_packed>) {
    // As an exponent and a mantissa of T the three bits are a power of two times the number.
    const uint32_t small = (bits & 0x00080008u) << 12 | (bits & 0x00070007u) << (is_half ? 9 : 6);
    return pair_mul<T>(small, is_half ? 0x74007400u : 0x7e807e80u);
  } else {
    constexpr bool is_signed = is_same_v<Packed, int4_packed>;
    constexpr uint32_t large = is_half ? 0x64006400u : 0x43004300u;  // 1024 or 128, whose last bits are a number's
    const uint32_t flipped = is_signed ? 0x00080008u : 0;
    return pair_sub<T>(((bits & 0x000f000fu) | large) ^ flipped, large + flipped);
  }
}

/// Sets `pairs` to elements j and j + 4 of eight numbers of 16 bits, for j from 0 to 3.
template <class Words>
ZELLIGE_CALL void apart(uint32_t (&pairs)[4], const Words& w) {
  pairs[0] = (w[0] & 0xffff) | w[2] << 16, pairs[1] = w[0] >> 16 | (w[2] & 0xffff0000u);
  pairs[2] = (w[1] & 0xffff) | w[3] << 16, pairs[3] = w[1] >> 16 | (w[3] & 0xffff0000u);
}

/// Returns the number of column n that holds for element k of K, twice.
template <class T, int Run, class Numbers>
ZELLIGE_CALL uint32_t number_pair(const Numbers& numbers, int k, int n) {
  const float x = read<1>(numbers(k / Run, n))[0];
  return pack<T>(x, x);
}
}  // namespace detail

/// Computes d += a b for the bytes of b. Called by all warps of the Fragment d, which divide K into whole runs of 32.
template <class T, class Packed, int K, int ScaleRun, int ZeroRun, bool Added = false, class F, class A, class Bytes,
          class Scales, class Zeros>
ZELLIGE_CALL void multiply_widened(F& d, const A& a, const Bytes& bytes, const Scales& scales, const Zeros& zeros,
                                   int warp, int lane) {
  using Op = typename step_row<T, F>::type;
  constexpr auto whole = [](int k) { return K % (k * F::warps_k) == 0 && ScaleRun % k == 0 && ZeroRun % k == 0; };
  constexpr int words = whole(128) ? 4 : whole(64) ? 2 : 1, chunk = 32 * words, mine = K / chunk / F::warps_k;
  static_assert(K % (chunk * F::warps_k) == 0, "multiply_widened: the warps divide K into whole runs of 32");
  static_assert(F::Row::k == 16 && F::batch == 1 && F::columns % 16 == 0);
  const int column = lane / 4, first = F::warp_k(warp) * mine * chunk + lane % 4 * 8 * words;
#pragma unroll(mine* words <= 8 ? mine : 1)
  for (int ki = 0; ki < mine; ++ki) {
    const int k = first + ki * chunk;
    uint32_t rows[F::my_m][2][words][4] = {};  // of A: of two rows of each tile, elements j and j + 4 of each word
#pragma unroll
    for (int mi = 0; mi < F::my_m; ++mi)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int m_tile = mi * F::warps_m + F::warp_m(warp), row = m_tile * F::Row::m + r * 8 + column;
        if ((F::rows <= 8 && r == 1) || (F::m_tiles % F::warps_m != 0 && m_tile >= F::m_tiles))
          continue;  // no such row
#pragma unroll
        for (int i = 0; i < words; ++i)
          detail::apart(
              rows[mi][r][i],
              zellige::words(load<8>(a(0, F::rows % F::Row::m == 0 ? row : at_most(row, F::rows - 1), k + 8 * i))));
      }
#pragma unroll
    for (int tile = 0; tile < F::my_n * F::width; ++tile) {
      const int unit = tile / F::width * F::warps_n + F::warp_n(warp);
      if (F::units % F::warps_n != 0 && unit >= F::units) continue;
      const int n = (unit * F::width + tile % F::width) * F::Row::n + column;
      const auto of_lane = zellige::words(load<4 * words>(bytes(k / 2, n)));
      [[maybe_unused]] uint32_t zero = 0, scale = 0;
      if constexpr (!is_same_v<Zeros, NoNumbers>) zero = detail::number_pair<T, ZeroRun>(zeros, k, n);
      if constexpr (!is_same_v<Scales, NoNumbers>) scale = detail::number_pair<T, ScaleRun>(scales, k, n);
#pragma unroll
      for (int i = 0; i < words; ++i) {
        uint32_t b[4];  // elements j and j + 4
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          b[j] = detail::widened_pair<T, Packed>(of_lane[i] >> (4 * j));
          if constexpr (!Added && !is_same_v<Zeros, NoNumbers>) b[j] = detail::pair_sub<T>(b[j], zero);
          if constexpr (Added)
            b[j] = detail::pair_fma<T>(b[j], scale, zero);
          else if constexpr (!is_same_v<Scales, NoNumbers>)
            b[j] = detail::pair_mul<T>(b[j], scale);
        }
#pragma unroll
        for (int mi = 0; mi < F::my_m; ++mi) {
          if (F::m_tiles % F::warps_m != 0 && mi * F::warps_m + F::warp_m(warp) >= F::m_tiles) continue;
#pragma unroll
          for (int step = 0; step < 4; step += 2) {
            typename Op::ARegisters ra;
            typename Op::BRegisters rb;
            ra[0] = rows[mi][0][i][step], ra[1] = rows[mi][1][i][step];
            ra[2] = rows[mi][0][i][step + 1], ra[3] = rows[mi][1][i][step + 1];
            rb[0] = b[step], rb[1] = b[step + 1];
            mma<Op>(d.d[mi * F::my_n * F::width + tile], ra, rb);
          }
        }
      }
    }
  }
}

}  // namespace zellige
