// CUDA's functions on two or four numbers in a word of 32 bits, and on three operands at once.
#pragma once
#include "zellige/cuda/math.hpp"

namespace zellige::cuda {

/// Returns compute(x, y) of each part of T's size in a and b.
template <class T, class F>
unsigned per_part(unsigned a, unsigned b, F compute) {
  unsigned result = 0;
  for (unsigned at = 0; at < 4; at += sizeof(T)) {
    const long long r = compute(static_cast<T>(a >> 8 * at), static_cast<T>(b >> 8 * at));
    result |= (static_cast<unsigned>(r) & (sizeof(T) == 1 ? 255u : 65535u)) << 8 * at;
  }
  return result;
}
/// Returns x as the nearest number that T has.
template <class T>
long long saturated(long long x) {
  constexpr int bits = 8 * sizeof(T);
  constexpr long long low = T(-1) < T(0) ? -(1ll << (bits - 1)) : 0,
                      high = T(-1) < T(0) ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1;
  return x < low ? low : x > high ? high : x;
}

}  // namespace zellige::cuda

#define ZELLIGE_PARTS(NAME, T2, T4, EXPRESSION)                                                                    \
  inline unsigned NAME##2(unsigned a, unsigned b = 0) {                                                            \
    using T [[maybe_unused]] = T2;                                                                                 \
    return ::zellige::cuda::per_part<T2>(                                                                          \
        a, b, []([[maybe_unused]] long long x, [[maybe_unused]] long long y) -> long long { return EXPRESSION; }); \
  }                                                                                                                \
  inline unsigned NAME##4(unsigned a, unsigned b = 0) {                                                            \
    using T [[maybe_unused]] = T4;                                                                                 \
    return ::zellige::cuda::per_part<T4>(                                                                          \
        a, b, []([[maybe_unused]] long long x, [[maybe_unused]] long long y) -> long long { return EXPRESSION; }); \
  }
#define ZELLIGE_SIGNED(NAME, EXPRESSION) ZELLIGE_PARTS(NAME, short, signed char, EXPRESSION)
#define ZELLIGE_UNSIGNED(NAME, EXPRESSION) ZELLIGE_PARTS(NAME, unsigned short, unsigned char, EXPRESSION)
ZELLIGE_UNSIGNED(__vadd, x + y)
ZELLIGE_UNSIGNED(__vsub, x - y)
ZELLIGE_SIGNED(__vaddss, ::zellige::cuda::saturated<T>(x + y))
ZELLIGE_UNSIGNED(__vaddus, ::zellige::cuda::saturated<T>(x + y))
ZELLIGE_SIGNED(__vsubss, ::zellige::cuda::saturated<T>(x - y))
ZELLIGE_UNSIGNED(__vsubus, ::zellige::cuda::saturated<T>(x - y))
ZELLIGE_SIGNED(__vabs, x < 0 ? -x : x)
ZELLIGE_SIGNED(__vabsss, ::zellige::cuda::saturated<T>(x < 0 ? -x : x))
ZELLIGE_SIGNED(__vneg, -x)
ZELLIGE_SIGNED(__vnegss, ::zellige::cuda::saturated<T>(-x))
ZELLIGE_SIGNED(__vavgs, (x + y + 1) >> 1)
ZELLIGE_UNSIGNED(__vavgu, (x + y + 1) >> 1)
ZELLIGE_UNSIGNED(__vhaddu, (x + y) >> 1)
ZELLIGE_SIGNED(__vmins, x < y ? x : y)
ZELLIGE_UNSIGNED(__vminu, x < y ? x : y)
ZELLIGE_SIGNED(__vmaxs, x < y ? y : x)
ZELLIGE_UNSIGNED(__vmaxu, x < y ? y : x)
ZELLIGE_SIGNED(__vabsdiffs, x < y ? y - x : x - y)
ZELLIGE_UNSIGNED(__vabsdiffu, x < y ? y - x : x - y)
#define ZELLIGE_COMPARED(KIND, NAME, OPERATOR) \
  ZELLIGE_##KIND(__vcmp##NAME, x OPERATOR y ? -1 : 0) ZELLIGE_##KIND(__vset##NAME, x OPERATOR y ? 1 : 0)
ZELLIGE_COMPARED(UNSIGNED, eq, ==)
ZELLIGE_COMPARED(UNSIGNED, ne, !=)
ZELLIGE_COMPARED(SIGNED, gts, >)
ZELLIGE_COMPARED(UNSIGNED, gtu, >)
ZELLIGE_COMPARED(SIGNED, ges, >=)
ZELLIGE_COMPARED(UNSIGNED, geu, >=)
ZELLIGE_COMPARED(SIGNED, lts, <)
ZELLIGE_COMPARED(UNSIGNED, ltu, <)
ZELLIGE_COMPARED(SIGNED, les, <=)
ZELLIGE_COMPARED(UNSIGNED, leu, <=)
#undef ZELLIGE_COMPARED
#undef ZELLIGE_SIGNED
#undef ZELLIGE_UNSIGNED
#undef ZELLIGE_PARTS

#define ZELLIGE_SUM_OF_DIFFERENCES(NAME, PARTS, BYTES, MASK)                 \
  inline unsigned NAME(unsigned a, unsigned b) {                             \
    const unsigned all = PARTS(a, b);                                        \
    unsigned sum = 0;                                                        \
    for (unsigned at = 0; at < 32; at += 8 * BYTES) sum += all >> at & MASK; \
    return sum;                                                              \
  }
ZELLIGE_SUM_OF_DIFFERENCES(__vsads2, __vabsdiffs2, 2, 65535u)
ZELLIGE_SUM_OF_DIFFERENCES(__vsads4, __vabsdiffs4, 1, 255u)
ZELLIGE_SUM_OF_DIFFERENCES(__vsadu2, __vabsdiffu2, 2, 65535u)
ZELLIGE_SUM_OF_DIFFERENCES(__vsadu4, __vabsdiffu4, 1, 255u)
#undef ZELLIGE_SUM_OF_DIFFERENCES

/// Returns c and the products of two numbers of 16 bits with the two low or high bytes of b.
inline int __dp2a_lo(int a, int b, int c) {
  return c + static_cast<short>(a) * static_cast<signed char>(b) +
         static_cast<short>(a >> 16) * static_cast<signed char>(b >> 8);
}
inline int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + (a & 65535u) * (b & 255u) + (a >> 16) * (b >> 8 & 255u);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }

// Minima and maxima of three operands.
#define ZELLIGE_OF_THREE(NAME, T, EXPRESSION)         \
  inline T NAME(T a, T b, T c) { return EXPRESSION; } \
  inline T NAME##_relu(T a, T b, T c) { return max(static_cast<T>(EXPRESSION), T(0)); }
ZELLIGE_OF_THREE(__vimax3_s32, int, max(max(a, b), c))
ZELLIGE_OF_THREE(__vimin3_s32, int, min(min(a, b), c))
ZELLIGE_OF_THREE(__vimax3_u32, unsigned, max(max(a, b), c))
ZELLIGE_OF_THREE(__vimin3_u32, unsigned, min(min(a, b), c))
ZELLIGE_OF_THREE(__viaddmax_s32, int, max(a + b, c))
ZELLIGE_OF_THREE(__viaddmin_s32, int, min(a + b, c))
ZELLIGE_OF_THREE(__viaddmax_u32, unsigned, max(a + b, c))
ZELLIGE_OF_THREE(__viaddmin_u32, unsigned, min(a + b, c))
#undef ZELLIGE_OF_THREE
inline int __vimax_s32_relu(int a, int b) { return max(max(a, b), 0); }
inline int __vimin_s32_relu(int a, int b) { return max(min(a, b), 0); }
