// Approximate math functions on the device, and FastDivmod, division by a fixed run-time number without a
// division instruction.
//
//   FastDivmod by(7);   int q, r;   by(q, r, 30);        q == 4, r == 2, without a division
#pragma once
#if __has_include_next(<cutlass/fast_math.h>)
#include_next <cutlass/fast_math.h>
#else
#include <cutlass/array.h>
#include <cutlass/numeric_types.h>

#include <cmath>

namespace cutlass {

template <class T>
CUTLASS_HOST_DEVICE T fast_min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
CUTLASS_HOST_DEVICE T fast_max(T a, T b) {
  return a < b ? b : a;
}
CUTLASS_HOST_DEVICE float fast_min(float a, float b) { return fminf(a, b); }
CUTLASS_HOST_DEVICE float fast_max(float a, float b) { return fmaxf(a, b); }

// On the device these are CUDA's approximate intrinsics.
#if defined(__CUDA_ARCH__)
#define ZELLIGE_FAST(f) __##f
#else
#define ZELLIGE_FAST(f) f
#endif
CUTLASS_HOST_DEVICE float fast_exp(float x) { return ZELLIGE_FAST(expf)(x); }
CUTLASS_HOST_DEVICE float fast_log(float x) { return ZELLIGE_FAST(logf)(x); }
CUTLASS_HOST_DEVICE float fast_sin(float x) { return ZELLIGE_FAST(sinf)(x); }
CUTLASS_HOST_DEVICE float fast_cos(float x) { return ZELLIGE_FAST(cosf)(x); }
#undef ZELLIGE_FAST
CUTLASS_HOST_DEVICE float fast_sqrt(float x) { return sqrtf(x); }
CUTLASS_HOST_DEVICE float fast_acos(float x) { return acosf(x); }
CUTLASS_HOST_DEVICE float fast_asin(float x) { return asinf(x); }
CUTLASS_HOST_DEVICE float fast_tanh(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return tanhf(x);
#endif
}
CUTLASS_HOST_DEVICE double fast_exp(double x) { return exp(x); }
CUTLASS_HOST_DEVICE double fast_log(double x) { return log(x); }
CUTLASS_HOST_DEVICE double fast_sin(double x) { return sin(x); }
CUTLASS_HOST_DEVICE double fast_cos(double x) { return cos(x); }
CUTLASS_HOST_DEVICE double fast_sqrt(double x) { return sqrt(x); }
CUTLASS_HOST_DEVICE double fast_tanh(double x) { return tanh(x); }
CUTLASS_HOST_DEVICE half_t fast_exp(half_t x) { return half_t(fast_exp(float(x))); }
CUTLASS_HOST_DEVICE half_t fast_tanh(half_t x) { return half_t(fast_tanh(float(x))); }

template <class T>
CUTLASS_HOST_DEVICE constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
template <class T>
CUTLASS_HOST_DEVICE constexpr bool is_power_of_two(T n) {
  return n > 0 && (n & (n - 1)) == 0;
}

/// Divides integers from 0 to 2^31 - 1 by a fixed divisor of at least 1, with a multiplication and a shift.
struct FastDivmod {
  using value_div_type = int;
  using value_mod_type = long long;
  int divisor = 1;
  unsigned multiplier = 0;
  unsigned shift_right = 0;

  FastDivmod() = default;
  CUTLASS_HOST_DEVICE FastDivmod(int d) : divisor(d) {
    if (d == 1) return;
    // The multiplier is 2^(31 + bits) / d, rounded up, where 2^bits is the least power of two not less than
    // d. For 31-bit dividends the rounding error never reaches the quotient.
    unsigned bits = 0;
    while ((1u << bits) < unsigned(d)) ++bits;
    shift_right = bits - 1;
    multiplier = unsigned(((1ull << (31 + bits)) + unsigned(d) - 1) / unsigned(d));
  }
  CUTLASS_HOST_DEVICE int div(int n) const {
    if (divisor == 1) return n;
    return int((static_cast<unsigned long long>(unsigned(n)) * multiplier >> 32) >> shift_right);
  }
  CUTLASS_HOST_DEVICE int rem(int n) const { return n - div(n) * divisor; }
  CUTLASS_HOST_DEVICE int divide(int n) const { return div(n); }
  CUTLASS_HOST_DEVICE int divmod(int& remainder, int n) const {
    int const q = div(n);
    remainder = n - q * divisor;
    return q;
  }
  CUTLASS_HOST_DEVICE void fast_divmod(int& quotient, int& remainder, int n) const { quotient = divmod(remainder, n); }
  CUTLASS_HOST_DEVICE void operator()(int& quotient, int& remainder, int n) const { quotient = divmod(remainder, n); }
  CUTLASS_HOST_DEVICE operator int() const { return divisor; }
};

}  // namespace cutlass
#endif
