// A second definition of the warp's matrix instructions, for comparison with the bodies (mma_reference.hpp)
// and with hardware: fragments by PTX ISA's rule, accumulators by simple loops. A register holds neighbours
// along K, four threads are along K and eight along the rows, further registers go 8 rows down, then along K.
#pragma once

#include <zellige/atom/mma_reference.hpp>
#include <zellige/atom/mma_traits/names.hpp>

namespace zellige::oracle {

/// The kinds of operand.
struct WarpMmaKind {
  enum class Number : unsigned char { f16, f64, e4m3, e5m2, s8, u8, s4, u4, u1 };
  Number a, b;
  enum class Sum : unsigned char { f16, f32, f64, s32 } sum;
  enum class Ending : unsigned char { none, saturate, xor_popc, and_popc } ending;
  bool quad_pairs = false, a_rows = true, b_columns = true;
};

struct WarpMmaElement {
  int row, column;
};

constexpr int bits_of(WarpMmaKind::Number n) {
  using N = WarpMmaKind::Number;
  return n == N::f64 ? 64 : n == N::f16 ? 16 : n == N::s4 || n == N::u4 ? 4 : n == N::u1 ? 1 : 8;
}

/// The v-th element of thread t in an operand of `rows` rows (M or N) along K.
constexpr WarpMmaElement warp_mma_operand(const WarpMmaKind& kind, bool pieces, int bits, int rows, int t, int v) {
  if (kind.quad_pairs) {
    const int q = t % 4 + t / 16 * 4;  // of the eight threads of a pair
    if (pieces) return {q, v};
    return {q / 4 * 4 + v, q % 4};
  }
  const int per = bits >= 32 ? 1 : 32 / bits, r = v / per, down = rows / 8;
  return {t / 4 + 8 * (r % down), r / down * 4 * per + t % 4 * per + v % per};
}
constexpr WarpMmaElement warp_mma_result(const WarpMmaKind& kind, int t, int v) {
  if (kind.quad_pairs) {
    const int q = t % 4 + t / 16 * 4;
    if (kind.sum == WarpMmaKind::Sum::f16) return {q, v};
    return {q % 2 + 2 * (v / 2 % 2) + 4 * (q / 4), v % 2 + 2 * (q / 2 % 2) + 4 * (v / 4)};
  }
  return {t / 4 + 8 * (v / 2), t % 4 * 2 + v % 2};
}

/// The i-th number of a thread's registers.
inline double warp_mma_number(const unsigned char* registers, WarpMmaKind::Number n, int i) {
  using N = WarpMmaKind::Number;
  const int bits = bits_of(n);
  if (n == N::f64) {
    double x;
    __builtin_memcpy(&x, registers + 8 * i, 8);
    return x;
  }
  uint32_t word;
  __builtin_memcpy(&word, registers + i * bits / 32 * 4, 4);
  const uint32_t raw = word >> (i * bits % 32) & (bits == 32 ? ~0u : (1u << bits) - 1);
  switch (n) {
    case N::f16:
      return static_cast<float>(half_t::bitcast(static_cast<uint16_t>(raw)));
    case N::e4m3:
      return static_cast<float>(float_e4m3_t::bitcast(static_cast<uint8_t>(raw)));
    case N::e5m2:
      return static_cast<float>(float_e5m2_t::bitcast(static_cast<uint8_t>(raw)));
    case N::s8:
      return static_cast<int8_t>(raw);
    case N::s4:
      return static_cast<int>(raw) - (raw >= 8 ? 16 : 0);
    default:
      return raw;
  }
}

/// d = a b + c. a[t], b[t], c[t], d[t] are thread t's registers. Accumulators as in mma_reference.hpp; f64 by
/// fused multiply-adds with k ascending; integers exact, modulo 2^32 or saturated; single bits count the set
/// bits of a xor b, or of a and b. A warp has four quad pairs, each with its own matrices.
template <int M, int N, int K>
[[gnu::noinline]] void warp_mma(const WarpMmaKind& kind, const void* const* a, const void* const* b,
                                const void* const* c, void* const* d) {
  using Sum = WarpMmaKind::Sum;
  using Ending = WarpMmaKind::Ending;
  const int pairs = kind.quad_pairs ? 4 : 1, threads = kind.quad_pairs ? 8 : 32;
  for (int pair = 0; pair < pairs; ++pair) {
    static thread_local double left[M][K], right[N][K], sum[M][N];
    const auto thread = [&](int i) { return kind.quad_pairs ? pair * 4 + i % 4 + i / 4 * 16 : i; };
    const auto place = [&](int t) { return kind.quad_pairs ? t - pair * 4 : t; };
    for (int i = 0; i < threads; ++i) {
      const int t = thread(i);
      for (int v = 0; v < M * K / threads; ++v) {
        const auto [row, column] = warp_mma_operand(kind, kind.a_rows, bits_of(kind.a), M, place(t), v);
        left[row][column] = warp_mma_number(static_cast<const unsigned char*>(a[t]), kind.a, v);
      }
      for (int v = 0; v < N * K / threads; ++v) {
        const auto [row, column] = warp_mma_operand(kind, kind.b_columns, bits_of(kind.b), N, place(t), v);
        right[row][column] = warp_mma_number(static_cast<const unsigned char*>(b[t]), kind.b, v);
      }
      for (int v = 0; v < M * N / threads; ++v) {
        const auto [row, column] = warp_mma_result(kind, place(t), v);
        const auto* from = static_cast<const unsigned char*>(c[t]);
        double x = 0;
        float f;
        int32_t s;
        half_t h;
        if (kind.sum == Sum::f64) __builtin_memcpy(&x, from + 8 * v, 8);
        if (kind.sum == Sum::f32) __builtin_memcpy(&f, from + 4 * v, 4), x = f;
        if (kind.sum == Sum::s32) __builtin_memcpy(&s, from + 4 * v, 4), x = s;
        if (kind.sum == Sum::f16) __builtin_memcpy(static_cast<void*>(&h), from + 2 * v, 2), x = static_cast<float>(h);
        sum[row][column] = x;
      }
    }
    for (int m = 0; m < M; ++m) {
      for (int n = 0; n < N; ++n) {
        double x = sum[m][n];
        for (int k = 0; k < K; ++k) {
          const double p = left[m][k], q = right[n][k];
          if (kind.ending == Ending::xor_popc)
            x += p != q;
          else if (kind.ending == Ending::and_popc)
            x += p != 0 && q != 0;
          else
            x = kind.sum == Sum::f64 ? __builtin_fma(p, q, x) : x + p * q;
        }
        sum[m][n] = x;
      }
    }
    for (int i = 0; i < threads; ++i) {
      const int t = thread(i);
      for (int v = 0; v < M * N / threads; ++v) {
        const auto [row, column] = warp_mma_result(kind, place(t), v);
        auto* to = static_cast<unsigned char*>(d[t]);
        const double x = sum[row][column];
        const auto f = static_cast<float>(x);
        int64_t whole = static_cast<int64_t>(kind.sum == Sum::s32 ? x : 0);
        if (kind.ending == Ending::saturate)
          whole = whole > 0x7fffffff ? 0x7fffffff : whole < -0x80000000LL ? -0x80000000LL : whole;
        const auto s = static_cast<int32_t>(whole);
        const half_t h(reference::round_to_odd(x));
        if (kind.sum == Sum::f64) __builtin_memcpy(to + 8 * v, &x, 8);
        if (kind.sum == Sum::f32) __builtin_memcpy(to + 4 * v, &f, 4);
        if (kind.sum == Sum::s32) __builtin_memcpy(to + 4 * v, &s, 4);
        if (kind.sum == Sum::f16) __builtin_memcpy(to + 2 * v, static_cast<const void*>(&h), 2);
      }
    }
  }
}

}  // namespace zellige::oracle

namespace zellige::oracle {

constexpr WarpMmaKind::Number warp_mma_number(Number n) {
  using N = WarpMmaKind::Number;
  switch (n) {
    case Number::f16:
      return N::f16;
    case Number::e4m3:
      return N::e4m3;
    case Number::e5m2:
      return N::e5m2;
    case Number::s8:
      return N::s8;
    case Number::u8:
      return N::u8;
    case Number::s4:
      return N::s4;
    case Number::u4:
      return N::u4;
    case Number::u1:
      return N::u1;
    default:
      return N::f64;
  }
}

constexpr WarpMmaKind warp_mma_kind(MmaRow const& row) {
  using K = WarpMmaKind;
  return {warp_mma_number(row.a),
          warp_mma_number(row.b),
          row.d == Number::f16   ? K::Sum::f16
          : row.d == Number::f32 ? K::Sum::f32
          : row.d == Number::s32 ? K::Sum::s32
                                 : K::Sum::f64,
          static_cast<K::Ending>(row.ending),
          row.issuer == Issuer::quad_pair,
          row.a_rows,
          row.b_columns};
}

}  // namespace zellige::oracle
