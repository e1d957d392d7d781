// CUDA's cuda_fp16.h and cuda_bf16.h: numbers of 16 bits, which compute in float and round each result.
#pragma once
#include "zellige/cuda/math.hpp"

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
  operator float() const { return Format::widen(raw); }
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
inline __half __int2half_rn(int x) { return x; }
inline float __half2float(__half x) { return x; }
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
inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }

// The functions of both types.
template <class F>
::zellige::cuda::NarrowNumber<F> __hadd(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b) {
  return a + b;
}
template <class F>
::zellige::cuda::NarrowNumber<F> __hsub(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b) {
  return a - b;
}
template <class F>
::zellige::cuda::NarrowNumber<F> __hmul(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b) {
  return a * b;
}
template <class F>
::zellige::cuda::NarrowNumber<F> __hdiv(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b) {
  return a / b;
}
template <class F>
::zellige::cuda::NarrowNumber<F> __hfma(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b,
                                        ::zellige::cuda::NarrowNumber<F> c) {
  return std::fma(float(a), float(b), float(c));
}
template <class F>
::zellige::cuda::NarrowNumber<F> __hmax(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b) {
  return std::fmax(float(a), float(b));
}
template <class F>
::zellige::cuda::NarrowNumber<F> __hmin(::zellige::cuda::NarrowNumber<F> a, ::zellige::cuda::NarrowNumber<F> b) {
  return std::fmin(float(a), float(b));
}
template <class F>
::zellige::cuda::NarrowPair<F> __hadd2(::zellige::cuda::NarrowPair<F> a, ::zellige::cuda::NarrowPair<F> b) {
  return a + b;
}
template <class F>
::zellige::cuda::NarrowPair<F> __hmul2(::zellige::cuda::NarrowPair<F> a, ::zellige::cuda::NarrowPair<F> b) {
  return a * b;
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
