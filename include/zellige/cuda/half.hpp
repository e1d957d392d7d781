// CUDA's cuda_fp16.h and cuda_bf16.h: numbers of 16 bits, which compute in float and round each result.
#pragma once
#include "zellige/cuda/math.hpp"

/// The bits of a half, and of two.
struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};
struct __nv_bfloat16_raw {
  unsigned short x;
};

namespace zellige::cuda {

/// The bits of an IEEE binary16, and of a bfloat16, and their conversions, rounded to nearest even.
struct HalfFormat {
  static unsigned short round(float x) { return bits<unsigned short>(static_cast<_Float16>(x)); }
  static float widen(unsigned short b) { return static_cast<float>(bits<_Float16>(b)); }
};
struct BfloatFormat {
  static unsigned short round(float x) {
    const unsigned all = bits<unsigned>(x);
    if ((all & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<unsigned short>((all + 0x7fffu + (all >> 16 & 1u)) >> 16);
  }
  static float widen(unsigned short b) { return bits<float>(static_cast<unsigned>(b) << 16); }
};

/// A number of 16 bits.
template <class Format>
struct NarrowNumber {
  unsigned short raw;

  NarrowNumber() = default;
  NarrowNumber(float x) : raw(Format::round(x)) {}
  NarrowNumber(double x) : NarrowNumber(static_cast<float>(x)) {}
  NarrowNumber(int x) : NarrowNumber(static_cast<float>(x)) {}
  NarrowNumber(unsigned x) : NarrowNumber(static_cast<float>(x)) {}
  NarrowNumber(long x) : NarrowNumber(static_cast<float>(x)) {}
  NarrowNumber(unsigned long x) : NarrowNumber(static_cast<float>(x)) {}
  NarrowNumber(long long x) : NarrowNumber(static_cast<float>(x)) {}
  NarrowNumber(unsigned long long x) : NarrowNumber(static_cast<float>(x)) {}
  NarrowNumber(__half_raw x) : raw(x.x) {}
  operator float() const { return Format::widen(raw); }
  operator __half_raw() const { return {raw}; }
  NarrowNumber operator-() const { return NarrowNumber(-static_cast<float>(*this)); }
  NarrowNumber& operator+=(NarrowNumber b) { return *this = *this + b; }
  NarrowNumber& operator-=(NarrowNumber b) { return *this = *this - b; }
  NarrowNumber& operator*=(NarrowNumber b) { return *this = *this * b; }
  NarrowNumber& operator/=(NarrowNumber b) { return *this = *this / b; }

  friend NarrowNumber operator+(NarrowNumber a, NarrowNumber b) { return float(a) + float(b); }
  friend NarrowNumber operator-(NarrowNumber a, NarrowNumber b) { return float(a) - float(b); }
  friend NarrowNumber operator*(NarrowNumber a, NarrowNumber b) { return float(a) * float(b); }
  friend NarrowNumber operator/(NarrowNumber a, NarrowNumber b) { return float(a) / float(b); }
  friend bool operator==(NarrowNumber a, NarrowNumber b) { return float(a) == float(b); }
  friend bool operator!=(NarrowNumber a, NarrowNumber b) { return float(a) != float(b); }
  friend bool operator<(NarrowNumber a, NarrowNumber b) { return float(a) < float(b); }
  friend bool operator>(NarrowNumber a, NarrowNumber b) { return float(a) > float(b); }
  friend bool operator<=(NarrowNumber a, NarrowNumber b) { return float(a) <= float(b); }
  friend bool operator>=(NarrowNumber a, NarrowNumber b) { return float(a) >= float(b); }
};
/// Two of them in one register.
template <class Format>
struct alignas(4) NarrowPair {
  NarrowNumber<Format> x, y;

  NarrowPair() = default;
  NarrowPair(NarrowNumber<Format> a, NarrowNumber<Format> b) : x(a), y(b) {}
  friend NarrowPair operator+(NarrowPair a, NarrowPair b) { return {a.x + b.x, a.y + b.y}; }
  friend NarrowPair operator-(NarrowPair a, NarrowPair b) { return {a.x - b.x, a.y - b.y}; }
  friend NarrowPair operator*(NarrowPair a, NarrowPair b) { return {a.x * b.x, a.y * b.y}; }
  friend NarrowPair operator/(NarrowPair a, NarrowPair b) { return {a.x / b.x, a.y / b.y}; }
  friend bool operator==(NarrowPair a, NarrowPair b) { return a.x == b.x && a.y == b.y; }
  NarrowPair operator-() const { return {-x, -y}; }
  NarrowPair& operator+=(NarrowPair b) { return *this = *this + b; }
  NarrowPair& operator-=(NarrowPair b) { return *this = *this - b; }
  NarrowPair& operator*=(NarrowPair b) { return *this = *this * b; }
};

}  // namespace zellige::cuda

using __half = ::zellige::cuda::NarrowNumber<::zellige::cuda::HalfFormat>;
using half = __half;
using __half2 = ::zellige::cuda::NarrowPair<::zellige::cuda::HalfFormat>;
using half2 = __half2;
using __nv_bfloat16 = ::zellige::cuda::NarrowNumber<::zellige::cuda::BfloatFormat>;
using nv_bfloat16 = __nv_bfloat16;
using __nv_bfloat162 = ::zellige::cuda::NarrowPair<::zellige::cuda::BfloatFormat>;
using nv_bfloat162 = __nv_bfloat162;

inline __half __float2half(float x) { return x; }
inline __half __float2half_rn(float x) { return x; }
inline __half __double2half(double x) { return x; }
inline float __half2float(__half x) { return x; }
inline __half __short_as_half(short b) { return ::zellige::cuda::bits<__half>(b); }
inline short __half_as_short(__half x) { return static_cast<short>(x.raw); }
inline __half __ushort_as_half(unsigned short b) { return ::zellige::cuda::bits<__half>(b); }
inline unsigned short __half_as_ushort(__half x) { return x.raw; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __float2half2_rn(float x) { return {x, x}; }
inline __half2 __floats2half2_rn(float a, float b) { return {a, b}; }
inline __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }
inline __nv_bfloat16 __float2bfloat16(float x) { return x; }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
inline __nv_bfloat16 __double2bfloat16(double x) { return x; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short b) { return ::zellige::cuda::bits<__nv_bfloat16>(b); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.raw; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
inline __nv_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }

// The functions of both types.
namespace zellige::cuda {
template <class F, class Change>
NarrowPair<F> of_both(NarrowPair<F> v, Change change) {
  return {change(v.x), change(v.y)};
}
}  // namespace zellige::cuda

#define ZELLIGE_OF_ONE(NAME, EXPRESSION)                                           \
  template <class F>                                                               \
  ::zellige::cuda::NarrowNumber<F> NAME(::zellige::cuda::NarrowNumber<F> number) { \
    const float x = number;                                                        \
    return EXPRESSION;                                                             \
  }
#define ZELLIGE_OF_PAIR(NAME, FUNCTION)                                                                 \
  template <class F>                                                                                    \
  ::zellige::cuda::NarrowPair<F> NAME(::zellige::cuda::NarrowPair<F> v) {                               \
    return ::zellige::cuda::of_both(v, [](::zellige::cuda::NarrowNumber<F> x) { return FUNCTION(x); }); \
  }
#define ZELLIGE_OF_TWO(NAME, EXPRESSION)                                                                          \
  template <class F>                                                                                              \
  ::zellige::cuda::NarrowNumber<F> NAME(::zellige::cuda::NarrowNumber<F> p, ::zellige::cuda::NarrowNumber<F> q) { \
    const float a = p, b = q;                                                                                     \
    return EXPRESSION;                                                                                            \
  }                                                                                                               \
  template <class F>                                                                                              \
  ::zellige::cuda::NarrowPair<F> NAME##2(::zellige::cuda::NarrowPair<F> p, ::zellige::cuda::NarrowPair<F> q) {    \
    return {NAME(p.x, q.x), NAME(p.y, q.y)};                                                                      \
  }
#define ZELLIGE_COMPARE(NAME, OPERATOR)                                               \
  template <class F>                                                                  \
  bool NAME(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b) { \
    return float(a) OPERATOR float(b);                                                \
  }
ZELLIGE_OF_ONE(hexp, std::exp(x))
ZELLIGE_OF_ONE(hexp2, std::exp2(x))
ZELLIGE_OF_ONE(hlog, std::log(x))
ZELLIGE_OF_ONE(hlog2, std::log2(x))
ZELLIGE_OF_ONE(hsqrt, std::sqrt(x))
ZELLIGE_OF_ONE(hrsqrt, 1 / std::sqrt(x))
ZELLIGE_OF_ONE(hrcp, 1 / x)
ZELLIGE_OF_ONE(hsin, std::sin(x))
ZELLIGE_OF_ONE(hcos, std::cos(x))
ZELLIGE_OF_ONE(htanh, std::tanh(x))
ZELLIGE_OF_ONE(hfloor, std::floor(x))
ZELLIGE_OF_ONE(hceil, std::ceil(x))
ZELLIGE_OF_ONE(hrint, std::nearbyint(x))
ZELLIGE_OF_ONE(__habs, std::fabs(x))
ZELLIGE_OF_ONE(__hneg, -x)
ZELLIGE_OF_PAIR(h2exp, hexp)
ZELLIGE_OF_PAIR(h2exp2, hexp2)
ZELLIGE_OF_PAIR(h2log, hlog)
ZELLIGE_OF_PAIR(h2sqrt, hsqrt)
ZELLIGE_OF_PAIR(h2rsqrt, hrsqrt)
ZELLIGE_OF_PAIR(h2rcp, hrcp)
ZELLIGE_OF_PAIR(__habs2, __habs)
ZELLIGE_OF_PAIR(__hneg2, __hneg)
ZELLIGE_OF_TWO(__hadd, a + b)
ZELLIGE_OF_TWO(__hsub, a - b)
ZELLIGE_OF_TWO(__hmul, a* b)
ZELLIGE_OF_TWO(__hdiv, a / b)
ZELLIGE_OF_TWO(__hmax, std::fmax(a, b))
ZELLIGE_OF_TWO(__hmin, std::fmin(a, b))
ZELLIGE_OF_TWO(__hadd_rn, a + b)
ZELLIGE_OF_TWO(__hmul_rn, a* b)
ZELLIGE_COMPARE(__heq, ==)
ZELLIGE_COMPARE(__hne, !=)
ZELLIGE_COMPARE(__hlt, <)
ZELLIGE_COMPARE(__hle, <=)
ZELLIGE_COMPARE(__hgt, >)
ZELLIGE_COMPARE(__hge, >=)
#undef ZELLIGE_OF_ONE
#undef ZELLIGE_OF_PAIR
#undef ZELLIGE_OF_TWO
#undef ZELLIGE_COMPARE

template <class F>
bool __hisnan(::zellige::cuda::NarrowNumber<F> x) {
  return std::isnan(float(x));
}
template <class F>
::zellige::cuda::NarrowPair<F> __h2div(::zellige::cuda::NarrowPair<F> a, ::zellige::cuda::NarrowPair<F> b) {
  return __hdiv2(a, b);
}
template <class F>
::zellige::cuda::NarrowNumber<F> __hfma(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b,
                                        ::zellige::cuda::NarrowNumber<F> c) {
  return std::fma(float(a), float(b), float(c));
}
template <class F>
::zellige::cuda::NarrowPair<F> __hfma2(::zellige::cuda::NarrowPair<F> a, ::zellige::cuda::NarrowPair<F> b,
                                       ::zellige::cuda::NarrowPair<F> c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
template <class F>
::zellige::cuda::NarrowNumber<F> __low2half(::zellige::cuda::NarrowPair<F> v) {
  return v.x;
}
template <class F>
::zellige::cuda::NarrowNumber<F> __high2half(::zellige::cuda::NarrowPair<F> v) {
  return v.y;
}
template <class F>
float __low2float(::zellige::cuda::NarrowPair<F> v) {
  return v.x;
}
template <class F>
float __high2float(::zellige::cuda::NarrowPair<F> v) {
  return v.y;
}
