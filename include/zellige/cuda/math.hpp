// CUDA's device functions for numbers: conversions, bits, fast approximations (computed exactly), cached loads.
#pragma once
#include <cmath>

#include "zellige/cuda/atomics.hpp"

#define ZELLIGE_MIN_MAX(A, B, T)                                                             \
  inline constexpr T min(A a, B b) { return static_cast<T>(b) < static_cast<T>(a) ? b : a; } \
  inline constexpr T max(A a, B b) { return static_cast<T>(a) < static_cast<T>(b) ? b : a; }
ZELLIGE_MIN_MAX(int, int, int)
ZELLIGE_MIN_MAX(unsigned, unsigned, unsigned)
ZELLIGE_MIN_MAX(int, unsigned, unsigned)
ZELLIGE_MIN_MAX(unsigned, int, unsigned)
ZELLIGE_MIN_MAX(long, long, long)
ZELLIGE_MIN_MAX(unsigned long, unsigned long, unsigned long)
ZELLIGE_MIN_MAX(long, unsigned long, unsigned long)
ZELLIGE_MIN_MAX(unsigned long, long, unsigned long)
ZELLIGE_MIN_MAX(long long, long long, long long)
ZELLIGE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef ZELLIGE_MIN_MAX
inline float min(float a, float b) { return ::fminf(a, b); }
inline float max(float a, float b) { return ::fmaxf(a, b); }
inline double min(double a, double b) { return ::fmin(a, b); }
inline double max(double a, double b) { return ::fmax(a, b); }
inline double min(float a, double b) { return ::fmin(a, b); }
inline double max(float a, double b) { return ::fmax(a, b); }
inline double min(double a, float b) { return ::fmin(a, b); }
inline double max(double a, float b) { return ::fmax(a, b); }

namespace zellige::cuda {

/// Returns a value of type To with the bits of `from`.
template <class To, class From>
ZELLIGE_DEVICE To bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(static_cast<void*>(&to), &from, sizeof(To));
  return to;
}

}  // namespace zellige::cuda

inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float exp10f(float x) { return std::pow(10.0f, x); }
inline float fdividef(float a, float b) { return a / b; }
inline float normcdff(float x) { return 0.5f * std::erfc(-x * 0.70710678f); }
inline float __expf(float x) { return std::exp(x); }
inline float __exp10f(float x) { return std::pow(10.0f, x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frsqrt_rn(float x) { return 1.0f / std::sqrt(x); }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

inline int __float_as_int(float x) { return ::zellige::cuda::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return ::zellige::cuda::bits<unsigned>(x); }
inline float __int_as_float(int x) { return ::zellige::cuda::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return ::zellige::cuda::bits<float>(x); }
inline long long __double_as_longlong(double x) { return ::zellige::cuda::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return ::zellige::cuda::bits<double>(x); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= (x >> i & 1) << (31 - i);
  return r;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
inline long long llmin(long long a, long long b) { return a < b ? a : b; }
inline long long llmax(long long a, long long b) { return a < b ? b : a; }
inline float rcbrtf(float x) { return 1.0f / std::cbrt(x); }
inline double normcdf(double x) { return 0.5 * std::erfc(-x * 0.7071067811865476); }
inline float sinpif(float x) { return std::sin(3.14159265358979f * x); }
inline float cospif(float x) { return std::cos(3.14159265358979f * x); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << (n & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (n & 31));
}

template <class T>
ZELLIGE_DEVICE T __ldg(const T* p) {
  return *p;
}
template <class T>
ZELLIGE_DEVICE T __ldcs(const T* p) {
  return *p;
}
template <class T>
ZELLIGE_DEVICE T __ldcg(const T* p) {
  return *p;
}
template <class T>
ZELLIGE_DEVICE T __ldca(const T* p) {
  return *p;
}
template <class T>
ZELLIGE_DEVICE T __ldlu(const T* p) {
  return *p;
}
template <class T>
ZELLIGE_DEVICE T __ldcv(const T* p) {
  return *p;
}
template <class T>
ZELLIGE_DEVICE void __stwb(T* p, ::zellige::cuda::same<T> v) {
  *p = v;
}
template <class T>
ZELLIGE_DEVICE void __stwt(T* p, ::zellige::cuda::same<T> v) {
  *p = v;
}
template <class T>
ZELLIGE_DEVICE void __stcs(T* p, ::zellige::cuda::same<T> v) {
  *p = v;
}
template <class T>
ZELLIGE_DEVICE void __stcg(T* p, ::zellige::cuda::same<T> v) {
  *p = v;
}
