// The rarer functions of cuda_fp16.h and cuda_bf16.h: conversions, saturated arithmetic, comparisons of pairs, halves of pairs.
#pragma once
#include "zellige/cuda/conversions.hpp"
#include "zellige/cuda/half.hpp"

namespace zellige::cuda {

/// Returns x rounded as `mode` says: the nearest number, or its neighbour if that is on the wrong side.
template <class Format>
NarrowNumber<Format> narrowed(int mode, float x) {
  NarrowNumber<Format> r(x);
  const float back = r;
  const bool up = mode == FE_UPWARD || (mode == FE_TOWARDZERO && x < 0), wrong = up ? back < x : back > x;
  if (mode == FE_TONEAREST || std::isnan(x) || !wrong) return r;
  if (r.raw == 0 || r.raw == 0x8000) return bits<NarrowNumber<Format>>(static_cast<unsigned short>(up ? 1 : 0x8001));
  r.raw = static_cast<unsigned short>((back > 0) == up ? r.raw + 1 : r.raw - 1);
  return r;
}
inline float within_one(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

}  // namespace zellige::cuda

// Conversions: of half by its name and of bfloat16 by its own.
#define ZELLIGE_NARROW_INTEGER(TYPE, FORMAT, NAME, T)                                                               \
  inline T __##TYPE##2##NAME##_rz(__##FORMAT x) { return ::zellige::cuda::to_integer<T>(FE_TOWARDZERO, float(x)); } \
  inline T __##TYPE##2##NAME##_rn(__##FORMAT x) { return ::zellige::cuda::to_integer<T>(FE_TONEAREST, float(x)); }  \
  inline T __##TYPE##2##NAME##_ru(__##FORMAT x) { return ::zellige::cuda::to_integer<T>(FE_UPWARD, float(x)); }     \
  inline T __##TYPE##2##NAME##_rd(__##FORMAT x) { return ::zellige::cuda::to_integer<T>(FE_DOWNWARD, float(x)); }   \
  inline __##FORMAT __##NAME##2##TYPE##_rn(T x) { return x; }
#define ZELLIGE_NARROW_INTEGERS(TYPE, FORMAT)                  \
  ZELLIGE_NARROW_INTEGER(TYPE, FORMAT, int, int)               \
  ZELLIGE_NARROW_INTEGER(TYPE, FORMAT, uint, unsigned)         \
  ZELLIGE_NARROW_INTEGER(TYPE, FORMAT, short, short)           \
  ZELLIGE_NARROW_INTEGER(TYPE, FORMAT, ushort, unsigned short) \
  ZELLIGE_NARROW_INTEGER(TYPE, FORMAT, ll, long long)          \
  ZELLIGE_NARROW_INTEGER(TYPE, FORMAT, ull, unsigned long long)
ZELLIGE_NARROW_INTEGERS(half, half)
ZELLIGE_NARROW_INTEGERS(bfloat16, nv_bfloat16)
#undef ZELLIGE_NARROW_INTEGER
#undef ZELLIGE_NARROW_INTEGERS
inline __half __float2half_rz(float x) {
  return ::zellige::cuda::narrowed<::zellige::cuda::HalfFormat>(FE_TOWARDZERO, x);
}
inline __half __float2half_ru(float x) { return ::zellige::cuda::narrowed<::zellige::cuda::HalfFormat>(FE_UPWARD, x); }
inline __half __float2half_rd(float x) {
  return ::zellige::cuda::narrowed<::zellige::cuda::HalfFormat>(FE_DOWNWARD, x);
}
inline __nv_bfloat16 __float2bfloat16_rz(float x) {
  return ::zellige::cuda::narrowed<::zellige::cuda::BfloatFormat>(FE_TOWARDZERO, x);
}
inline __nv_bfloat16 __float2bfloat16_ru(float x) {
  return ::zellige::cuda::narrowed<::zellige::cuda::BfloatFormat>(FE_UPWARD, x);
}
inline __nv_bfloat16 __float2bfloat16_rd(float x) {
  return ::zellige::cuda::narrowed<::zellige::cuda::BfloatFormat>(FE_DOWNWARD, x);
}
inline __nv_bfloat16 __short_as_bfloat16(short b) { return ::zellige::cuda::bits<__nv_bfloat16>(b); }
inline short __bfloat16_as_short(__nv_bfloat16 x) { return static_cast<short>(x.raw); }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }

// Halves of pairs.
#define ZELLIGE_HALVES(NUMBER, PAIR, LOW, HIGH, LOW_TWICE, HIGH_TWICE, LOWS, HIGHS) \
  inline PAIR LOW_TWICE(PAIR v) { return {v.x, v.x}; }                              \
  inline PAIR HIGH_TWICE(PAIR v) { return {v.y, v.y}; }                             \
  inline PAIR LOWS(PAIR a, PAIR b) { return {a.x, b.x}; }                           \
  inline PAIR HIGHS(PAIR a, PAIR b) { return {a.y, b.y}; }
ZELLIGE_HALVES(__half, __half2, __low2half, __high2half, __low2half2, __high2half2, __lows2half2, __highs2half2)
ZELLIGE_HALVES(__nv_bfloat16, __nv_bfloat162, __low2bfloat16, __high2bfloat16, __low2bfloat162, __high2bfloat162,
               __lows2bfloat162, __highs2bfloat162)
#undef ZELLIGE_HALVES
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
template <class F>
::zellige::cuda::NarrowPair<F> __lowhigh2highlow(::zellige::cuda::NarrowPair<F> v) {
  return {v.y, v.x};
}

// Functions of one number, and of both of a pair.
#define ZELLIGE_OF_ONE_AND_PAIR(NAME, OF_PAIR, EXPRESSION)                         \
  template <class F>                                                               \
  ::zellige::cuda::NarrowNumber<F> NAME(::zellige::cuda::NarrowNumber<F> number) { \
    const float x = number;                                                        \
    return EXPRESSION;                                                             \
  }                                                                                \
  template <class F>                                                               \
  ::zellige::cuda::NarrowPair<F> OF_PAIR(::zellige::cuda::NarrowPair<F> v) {       \
    return {NAME(v.x), NAME(v.y)};                                                 \
  }
ZELLIGE_OF_ONE_AND_PAIR(htrunc, h2trunc, std::trunc(x))
ZELLIGE_OF_ONE_AND_PAIR(hexp10, h2exp10, std::pow(10.0f, x))
ZELLIGE_OF_ONE_AND_PAIR(hlog10, h2log10, std::log10(x))
ZELLIGE_OF_ONE_AND_PAIR(htanh_approx, h2tanh_approx, std::tanh(x))
#undef ZELLIGE_OF_ONE_AND_PAIR
#define ZELLIGE_PAIR_OF(NAME, OF_ONE)                                     \
  template <class F>                                                      \
  ::zellige::cuda::NarrowPair<F> NAME(::zellige::cuda::NarrowPair<F> v) { \
    return {OF_ONE(v.x), OF_ONE(v.y)};                                    \
  }
ZELLIGE_PAIR_OF(h2sin, hsin)
ZELLIGE_PAIR_OF(h2cos, hcos)
ZELLIGE_PAIR_OF(h2tanh, htanh)
ZELLIGE_PAIR_OF(h2floor, hfloor)
ZELLIGE_PAIR_OF(h2ceil, hceil)
ZELLIGE_PAIR_OF(h2rint, hrint)
ZELLIGE_PAIR_OF(h2log2, hlog2)
#undef ZELLIGE_PAIR_OF

// Functions of two numbers, and of two pairs.
#define ZELLIGE_OF_TWO(NAME, OF_PAIRS, EXPRESSION)                                                                \
  template <class F>                                                                                              \
  ::zellige::cuda::NarrowNumber<F> NAME(::zellige::cuda::NarrowNumber<F> p, ::zellige::cuda::NarrowNumber<F> q) { \
    const float a = p, b = q;                                                                                     \
    return ::zellige::cuda::NarrowNumber<F>(static_cast<float>(EXPRESSION));                                      \
  }                                                                                                               \
  template <class F>                                                                                              \
  ::zellige::cuda::NarrowPair<F> OF_PAIRS(::zellige::cuda::NarrowPair<F> p, ::zellige::cuda::NarrowPair<F> q) {   \
    return {NAME(p.x, q.x), NAME(p.y, q.y)};                                                                      \
  }
ZELLIGE_OF_TWO(__hadd_sat, __hadd2_sat, ::zellige::cuda::within_one(a + b))
ZELLIGE_OF_TWO(__hsub_sat, __hsub2_sat, ::zellige::cuda::within_one(a - b))
ZELLIGE_OF_TWO(__hmul_sat, __hmul2_sat, ::zellige::cuda::within_one(a* b))
ZELLIGE_OF_TWO(__hsub_rn, __hsub2_rn, a - b)
ZELLIGE_OF_TWO(__hmax_nan, __hmax2_nan, std::isnan(a) || std::isnan(b) ? std::nanf("") : std::fmax(a, b))
ZELLIGE_OF_TWO(__hmin_nan, __hmin2_nan, std::isnan(a) || std::isnan(b) ? std::nanf("") : std::fmin(a, b))
#undef ZELLIGE_OF_TWO

// Comparisons: of pairs, 1 or 0 for each; of all; and those that a NaN makes true.
#define ZELLIGE_COMPARED(NAME, OPERATOR)                                                                            \
  template <class F>                                                                                                \
  ::zellige::cuda::NarrowPair<F> __h##NAME##2(::zellige::cuda::NarrowPair<F> a, ::zellige::cuda::NarrowPair<F> b) { \
    return {float(a.x) OPERATOR float(b.x) ? 1.0f : 0.0f, float(a.y) OPERATOR float(b.y) ? 1.0f : 0.0f};            \
  }                                                                                                                 \
  template <class F>                                                                                                \
  unsigned __h##NAME##2_mask(::zellige::cuda::NarrowPair<F> a, ::zellige::cuda::NarrowPair<F> b) {                  \
    return (float(a.x) OPERATOR float(b.x) ? 0xffffu : 0u) | (float(a.y) OPERATOR float(b.y) ? 0xffff0000u : 0u);   \
  }                                                                                                                 \
  template <class F>                                                                                                \
  bool __hb##NAME##2(::zellige::cuda::NarrowPair<F> a, ::zellige::cuda::NarrowPair<F> b) {                          \
    return float(a.x) OPERATOR float(b.x) && float(a.y) OPERATOR float(b.y);                                        \
  }                                                                                                                 \
  template <class F>                                                                                                \
  bool __h##NAME##u(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b) {                       \
    return std::isnan(float(a)) || std::isnan(float(b)) || float(a) OPERATOR float(b);                              \
  }
ZELLIGE_COMPARED(eq, ==)
ZELLIGE_COMPARED(ne, !=)
ZELLIGE_COMPARED(lt, <)
ZELLIGE_COMPARED(le, <=)
ZELLIGE_COMPARED(gt, >)
ZELLIGE_COMPARED(ge, >=)
#undef ZELLIGE_COMPARED
template <class F>
int __hisinf(::zellige::cuda::NarrowNumber<F> x) {
  return std::isinf(float(x)) ? (float(x) < 0 ? -1 : 1) : 0;
}
template <class F>
::zellige::cuda::NarrowNumber<F> __hfma_relu(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b,
                                             ::zellige::cuda::NarrowNumber<F> c) {
  return std::fmax(std::fma(float(a), float(b), float(c)), 0.0f);
}
template <class F>
::zellige::cuda::NarrowNumber<F> __hfma_sat(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b,
                                            ::zellige::cuda::NarrowNumber<F> c) {
  return ::zellige::cuda::within_one(std::fma(float(a), float(b), float(c)));
}
template <class F>
::zellige::cuda::NarrowPair<F> __hfma2_relu(::zellige::cuda::NarrowPair<F> a, ::zellige::cuda::NarrowPair<F> b,
                                            ::zellige::cuda::NarrowPair<F> c) {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
template <class F>
::zellige::cuda::NarrowPair<F> __hfma2_sat(::zellige::cuda::NarrowPair<F> a, ::zellige::cuda::NarrowPair<F> b,
                                           ::zellige::cuda::NarrowPair<F> c) {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
