// CUDA's conversions between numbers, its arithmetic with a rounding mode, and functions on bits.
#pragma once
#include <cfenv>
#include <limits>
#include <type_traits>

#include "zellige/cuda/math.hpp"

namespace zellige::cuda {

/// Returns compute() with results rounded as `mode` says: FE_TOWARDZERO, FE_UPWARD or FE_DOWNWARD. Its operands must be volatile.
template <class F>
auto rounded(int mode, F compute) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile auto result = compute();  // done before the mode is put back
  std::fesetround(before);
  return result;
}
/// Returns x as an integer, rounded as `mode` says. What does not fit becomes the nearest number that does; NaN becomes 0.
template <class To>
To to_integer(int mode, double x) {
  if (std::isnan(x)) return 0;
  const double whole = mode == FE_TOWARDZERO ? std::trunc(x)
                       : mode == FE_UPWARD   ? std::ceil(x)
                       : mode == FE_DOWNWARD ? std::floor(x)
                                             : std::nearbyint(x);
  if (whole <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (whole >= static_cast<double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(whole);
}

}  // namespace zellige::cuda

// Float to integer and back, in each rounding mode.
#define ZELLIGE_ONE_WAY(FROM, TO, F, T, SUFFIX, MODE) \
  inline T __##FROM##2##TO##_##SUFFIX(F x) { return ::zellige::cuda::to_integer<T>(MODE, x); }
#define ZELLIGE_BACK(TO, FROM, T, F, SUFFIX, MODE)                                 \
  inline F __##TO##2##FROM##_##SUFFIX(T x) {                                       \
    volatile T number = x;                                                         \
    return ::zellige::cuda::rounded(MODE, [&] { return static_cast<F>(number); }); \
  }
#define ZELLIGE_BOTH_WAYS(FROM, TO, F, T)                          \
  ZELLIGE_ONE_WAY(FROM, TO, F, T, rn, FE_TONEAREST)                \
  ZELLIGE_ONE_WAY(FROM, TO, F, T, rz, FE_TOWARDZERO)               \
  ZELLIGE_ONE_WAY(FROM, TO, F, T, ru, FE_UPWARD)                   \
  ZELLIGE_ONE_WAY(FROM, TO, F, T, rd, FE_DOWNWARD)                 \
  inline F __##TO##2##FROM##_rn(T x) { return static_cast<F>(x); } \
  ZELLIGE_BACK(TO, FROM, T, F, rz, FE_TOWARDZERO)                  \
  ZELLIGE_BACK(TO, FROM, T, F, ru, FE_UPWARD)                      \
  ZELLIGE_BACK(TO, FROM, T, F, rd, FE_DOWNWARD)
ZELLIGE_BOTH_WAYS(float, int, float, int)
ZELLIGE_BOTH_WAYS(float, uint, float, unsigned)
ZELLIGE_BOTH_WAYS(float, ll, float, long long)
ZELLIGE_BOTH_WAYS(float, ull, float, unsigned long long)
ZELLIGE_BOTH_WAYS(double, int, double, int)
ZELLIGE_BOTH_WAYS(double, uint, double, unsigned)
ZELLIGE_BOTH_WAYS(double, ll, double, long long)
ZELLIGE_BOTH_WAYS(double, ull, double, unsigned long long)
#undef ZELLIGE_ONE_WAY
#undef ZELLIGE_BACK
#undef ZELLIGE_BOTH_WAYS

// Arithmetic in each rounding mode.
#define ZELLIGE_ROUNDED(NAME, T, PARAMETERS, VOLATILES, EXPRESSION)                              \
  inline T NAME##_rz PARAMETERS {                                                                \
    VOLATILES return ::zellige::cuda::rounded(FE_TOWARDZERO, [&]() -> T { return EXPRESSION; }); \
  }                                                                                              \
  inline T NAME##_ru PARAMETERS {                                                                \
    VOLATILES return ::zellige::cuda::rounded(FE_UPWARD, [&]() -> T { return EXPRESSION; });     \
  }                                                                                              \
  inline T NAME##_rd PARAMETERS {                                                                \
    VOLATILES return ::zellige::cuda::rounded(FE_DOWNWARD, [&]() -> T { return EXPRESSION; });   \
  }
#define ZELLIGE_ROUNDED_1(NAME, T, EXPRESSION) ZELLIGE_ROUNDED(NAME, T, (T x), volatile T a = x;, EXPRESSION)
#define ZELLIGE_ROUNDED_2(NAME, T, EXPRESSION) \
  ZELLIGE_ROUNDED(NAME, T, (T x, T y), volatile T a = x; volatile T b = y;, EXPRESSION)
#define ZELLIGE_ROUNDED_3(NAME, T, EXPRESSION) \
  ZELLIGE_ROUNDED(NAME, T, (T x, T y, T z), volatile T a = x; volatile T b = y; volatile T c = z;, EXPRESSION)
ZELLIGE_ROUNDED_2(__fadd, float, a + b)
ZELLIGE_ROUNDED_2(__fsub, float, a - b)
ZELLIGE_ROUNDED_2(__fmul, float, a* b)
ZELLIGE_ROUNDED_2(__fdiv, float, a / b)
ZELLIGE_ROUNDED_1(__fsqrt, float, std::sqrt(a))
ZELLIGE_ROUNDED_1(__frcp, float, 1.0f / a)
ZELLIGE_ROUNDED_3(__fmaf, float, std::fma(a, b, c))
ZELLIGE_ROUNDED_2(__dadd, double, a + b)
ZELLIGE_ROUNDED_2(__dsub, double, a - b)
ZELLIGE_ROUNDED_2(__dmul, double, a* b)
ZELLIGE_ROUNDED_2(__ddiv, double, a / b)
ZELLIGE_ROUNDED_1(__dsqrt, double, std::sqrt(a))
ZELLIGE_ROUNDED_1(__drcp, double, 1.0 / a)
ZELLIGE_ROUNDED_3(__fma, double, std::fma(a, b, c))
#undef ZELLIGE_ROUNDED
#undef ZELLIGE_ROUNDED_1
#undef ZELLIGE_ROUNDED_2
#undef ZELLIGE_ROUNDED_3
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
#define ZELLIGE_NARROWED(SUFFIX, MODE)                                                 \
  inline float __double2float_##SUFFIX(double x) {                                     \
    volatile double number = x;                                                        \
    return ::zellige::cuda::rounded(MODE, [&] { return static_cast<float>(number); }); \
  }
ZELLIGE_NARROWED(rz, FE_TOWARDZERO)
ZELLIGE_NARROWED(ru, FE_UPWARD)
ZELLIGE_NARROWED(rd, FE_DOWNWARD)
#undef ZELLIGE_NARROWED

inline int __double2hiint(double x) { return static_cast<int>(::zellige::cuda::bits<long long>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(::zellige::cuda::bits<long long>(x)); }
inline double __hiloint2double(int high, int low) {
  return ::zellige::cuda::bits<double>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 |
                                       static_cast<unsigned>(low));
}

// Bits.
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
/// Returns four bytes of the eight of y and x (the lowest are x's): each digit of `selector` says which; its bit 3 asks for the sign.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned digit = selector >> 4 * i, byte = static_cast<unsigned>(both >> 8 * (digit & 7)) & 255;
    result |= (digit & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
  }
  return result;
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned n) {
  return n >= 32 ? low : static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << n) >> 32);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned n) {
  return n >= 32 ? high : static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> n);
}
/// Returns the place of the n-th set bit from bit `base` on (n < 0: downwards); -1 if there is none.
inline unsigned __fns(unsigned mask, unsigned base, int n) {
  if (n == 0) return mask >> base & 1 ? base : ~0u;
  const int step = n > 0 ? 1 : -1;
  int left = n > 0 ? n : -n;
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) && --left == 0) return static_cast<unsigned>(at);
  return ~0u;
}
inline unsigned __sad(int x, int y, unsigned z) {
  return z + (x > y ? static_cast<unsigned>(x) - static_cast<unsigned>(y)
                    : static_cast<unsigned>(y) - static_cast<unsigned>(x));
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
inline int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
inline int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
inline unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1);
}
inline unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}

// Functions that the host's library lacks.
inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
inline float rhypotf(float x, float y) { return 1.0f / std::hypot(x, y); }
inline double rhypot(double x, double y) { return 1.0 / std::hypot(x, y); }
inline float norm3df(float x, float y, float z) { return std::sqrt(x * x + y * y + z * z); }
inline double norm3d(double x, double y, double z) { return std::sqrt(x * x + y * y + z * z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline float norm4df(float x, float y, float z, float w) { return std::sqrt(x * x + y * y + z * z + w * w); }
inline double norm4d(double x, double y, double z, double w) { return std::sqrt(x * x + y * y + z * z + w * w); }
inline float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
inline double sinpi(double x) { return std::sin(3.14159265358979323846 * x); }
inline double cospi(double x) { return std::cos(3.14159265358979323846 * x); }
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline void __sincosf(float x, float* s, float* c) { *s = std::sin(x), *c = std::cos(x); }
inline double erfcx(double x) { return std::exp(x * x) * std::erfc(x); }
inline float erfcxf(float x) { return static_cast<float>(erfcx(x)); }
/// The inverse of erf, by Newton's method.
inline double erfinv(double y) {
  if (y <= -1 || y >= 1) return y == 1 ? HUGE_VAL : y == -1 ? -HUGE_VAL : std::nan("");
  const double t = std::log(1 - y * y), u = 2 / (3.14159265358979323846 * 0.147) + t / 2;
  double x = std::copysign(std::sqrt(std::sqrt(u * u - t / 0.147) - u), y);
  for (int i = 0; i < 4; ++i) x -= (std::erf(x) - y) / (1.1283791670955126 * std::exp(-x * x));
  return x;
}
inline float erfinvf(float y) { return static_cast<float>(erfinv(y)); }
inline double erfcinv(double y) { return erfinv(1 - y); }
inline float erfcinvf(float y) { return static_cast<float>(erfcinv(y)); }
inline double normcdfinv(double p) { return 1.4142135623730951 * erfinv(2 * p - 1); }
inline float normcdfinvf(float p) { return static_cast<float>(normcdfinv(p)); }
