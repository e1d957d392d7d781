// Defines the elementwise functions that generated kernels call (exp, gelu, sigmoid, max, ...), on floats, for the
// device and the CPU. Their relative error is about 1e-6 or better; for exp it grows by 1e-7 per unit of |x|.
//
//   float y = zellige::gelu(x);
//
// Call them qualified (zellige::exp), because the C library's functions of the same names are global.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

inline constexpr float infinity = __builtin_bit_cast(float, 0x7f800000u);

#if defined(__CUDA_ARCH__)
#define ZELLIGE_LIBM(name) ::name
#else
#define ZELLIGE_LIBM(name) __builtin_##name
#endif

ZELLIGE_ANYWHERE float log(float x) { return ZELLIGE_LIBM(logf)(x); }
ZELLIGE_ANYWHERE float sqrt(float x) { return ZELLIGE_LIBM(sqrtf)(x); }
ZELLIGE_ANYWHERE float tanh(float x) { return ZELLIGE_LIBM(tanhf)(x); }
ZELLIGE_ANYWHERE float sin(float x) { return ZELLIGE_LIBM(sinf)(x); }
ZELLIGE_ANYWHERE float cos(float x) { return ZELLIGE_LIBM(cosf)(x); }
ZELLIGE_ANYWHERE float abs(float x) { return ZELLIGE_LIBM(fabsf)(x); }
ZELLIGE_ANYWHERE float erf(float x) { return ZELLIGE_LIBM(erff)(x); }
ZELLIGE_ANYWHERE float pow(float x, float y) { return ZELLIGE_LIBM(powf)(x, y); }
ZELLIGE_ANYWHERE float fma(float x, float y, float z) { return ZELLIGE_LIBM(fmaf)(x, y, z); }
#undef ZELLIGE_LIBM

/// Returns log(1 + x), precise near 0: the logarithm of the rounded sum, corrected by what the sum has lost. Of large x,
/// infinity included, it has lost nothing that counts.
ZELLIGE_ANYWHERE float log1p(float x) {
  const float u = 1.0f + x;
  return u == 1.0f ? x : log(u) * (x == u ? 1.0f : x / (u - 1.0f));
}

/// Returns 1 / x within 1 ulp. This is one instruction on the device, where an exact division needs eight. The device
/// flushes subnormal arguments and results to 0.
ZELLIGE_ANYWHERE float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / x;
#endif
}

/// Returns 2^x within 2 ulp. This is one instruction on the device, where results below 2^-126 are flushed to 0.
ZELLIGE_ANYWHERE float exp2(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return __builtin_exp2f(x);
#endif
}
/// Returns e^x. The device computes it as 2^(x log2 e) in two instructions, where the C library's function needs
/// eight. Because the product is rounded, the error is up to (2 + 1.7 |x|) ulp.
ZELLIGE_ANYWHERE float exp(float x) {
#if defined(__CUDA_ARCH__)
  return exp2(1.4426950409f * x);
#else
  return __builtin_expf(x);
#endif
}

/// Returns e^(scale * x - top), as online softmax needs it, where `top` is the row's maximum of scale * x. If several
/// x have the same `scale` and `top`, each call compiles to two instructions. The exponent's error is a few ulp of
/// scale * x plus a few ulp of top, even if their difference is small. `top` may be the lowest finite float, the
/// initial value of a maximum.
ZELLIGE_ANYWHERE float exp_below(float x, float scale, float top) {
  constexpr float log2e = 1.4426950409f, lowest = -3.4028234664e38f;
  const float shift = top * log2e;
  return exp2(fma(x, scale * log2e, -(shift < lowest ? lowest : shift)));
}

/// Divides several numbers by one divisor: x / Divisor(d) is within 2 ulp of x / d. The constructor computes the
/// reciprocal once; each division multiplies by it. If |d| is below 2^-100 or above 2^100, d and x are scaled by a
/// power of two, so that the reciprocal neither overflows nor is subnormal.
class Divisor {
 public:
  ZELLIGE_ANYWHERE explicit Divisor(float d)
      : scale_(abs(d) < 0x1p-100f  ? 0x1p60f
               : abs(d) > 0x1p100f ? 0x1p-60f
                                   : 1.0f),
        inverse_(reciprocal(d * scale_)) {}
  ZELLIGE_ANYWHERE friend float operator/(float x, Divisor d) { return x * d.scale_ * d.inverse_; }

 private:
  float scale_, inverse_;
};

/// Returns 1 / sqrt(x) within 2 ulp. This is one instruction on the device.
ZELLIGE_ANYWHERE float rsqrt(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / __builtin_sqrtf(x);
#endif
}

/// Returns the larger number, or NaN if an operand is NaN, so that an earlier error stays visible. This is one
/// instruction on the device.
ZELLIGE_ANYWHERE float max(float x, float y) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  return x > y || x != x ? x : y;
#endif
}
/// Returns the smaller number, or NaN if an operand is NaN. This is one instruction on the device.
ZELLIGE_ANYWHERE float min(float x, float y) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  return x < y || x != x ? x : y;
#endif
}

/// Returns the larger number or, if one operand is NaN, the other operand. This is one instruction on the device.
ZELLIGE_ANYWHERE float max_number(float x, float y) {
#if defined(__CUDA_ARCH__)
  return ::fmaxf(x, y);
#else
  return __builtin_fmaxf(x, y);
#endif
}

ZELLIGE_ANYWHERE float square(float x) { return x * x; }
ZELLIGE_ANYWHERE float relu(float x) { return max(x, 0.0f); }
ZELLIGE_ANYWHERE float clamp(float x, float low, float high) { return min(max(x, low), high); }
ZELLIGE_ANYWHERE float sigmoid(float x) { return reciprocal(1.0f + zellige::exp(-x)); }
ZELLIGE_ANYWHERE float silu(float x) { return x * sigmoid(x); }
/// Returns the exact GELU, x Phi(x), where Phi is the cumulative normal distribution. Computes it as max(x, 0) - |x|
/// Phi(-|x|), because 1 + erf(x / sqrt 2) loses precision by cancellation for negative x.
///
/// Phi(-z) is e^(-z^2 / 2) n(z) / d(z). The polynomials n and d have positive coefficients, so that no sum cancels. They
/// were fitted for z up to 13.3, beyond which the exponential is below 2^-126: Lawson's algorithm in double precision
/// minimized the largest relative error of n / d divided by 1 + 0.15 z^2, which is 4.6e-8 after each coefficient was
/// rounded to float and the others were fitted again.
///
/// The relative error is at most 6 * 2^-24 for positive x and (7 + 1.1 x^2) 2^-24 for negative x, where the exponent's
/// rounding counts; a GPU computed every float. Results below 2^-126 may be 0. gelu(-infinity) is NaN, as
/// -infinity times 0 is.
ZELLIGE_ANYWHERE float gelu(float x) {
  constexpr float far = 16.0f;  // Phi(-far) is 0 in float32
  const float z = min(abs(x), far);
  const float n = fma(fma(fma(fma(4.376466e-07f, z, 0.012789105f), z, 0.10044503f), z, 0.32622752f), z, 0.5f);
  const float d = fma(fma(fma(fma(0.032103665f, z, 0.25095978f), z, 0.85811263f), z, 1.4503379f), z, 1.0f);
  const float exponential = exp2(-0.72134752f * (z * z));
  // -infinity stays infinite here, and infinity does not. The maximum keeps the sign of 0.
  const float factor = abs(min(x, far)) * (n * reciprocal(d));
  return fma(-factor, exponential, max(-0.0f, x));
}
/// Returns the tanh approximation of GELU, x (1 + tanh z) / 2 with z = sqrt(2 / pi) (x + 0.044715 x^3). Computes
/// (1 + tanh z) / 2 as 1 / (1 + 2^(-2 z log2 e)), because 1 + tanh z loses precision by cancellation for negative z.
ZELLIGE_ANYWHERE float gelu_tanh(float x) {
  constexpr float a = -2.3022082f, b = -0.10294324f;  // -sqrt(8 / pi) log2 e, and that times 0.044715
  return x * reciprocal(1.0f + exp2(x * fma(x * x, b, a)));
}

}  // namespace zellige
