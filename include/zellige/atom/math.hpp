// The elementwise functions of a graph, on floats: relative error about 1e-6 or better (for exp it grows by
// 1e-7 per unit of |x|), on the device and on the CPU. Call them qualified (zellige::exp): the C library's
// names are global.
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

/// 1 / x within 1 ulp: one instruction on the device, whereas an exact division takes eight. Flushes
/// subnormal x and results to 0, which saves four instructions.
ZELLIGE_ANYWHERE float reciprocal(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / x;
#endif
}

/// 2 to the x within 2 ulp: one instruction on the device; results below 2^-126 are zero.
ZELLIGE_ANYWHERE float exp2(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return __builtin_exp2f(x);
#endif
}
/// e to the x in two instructions (the C library's takes eight): x log2 e is rounded, with an error of (2 +
/// 1.7 |x|) ulp.
ZELLIGE_ANYWHERE float exp(float x) {
#if defined(__CUDA_ARCH__)
  return exp2(1.4426950409f * x);
#else
  return __builtin_expf(x);
#endif
}

/// e to the (scale x - top) in two instructions if scale and top are shared by several numbers: the error is
/// a few ulp of |scale x| and |top|, which are rounded separately. top may be the lowest finite number, the
/// initial value of a maximum.
ZELLIGE_ANYWHERE float exp_below(float x, float scale, float top) {
  constexpr float log2e = 1.4426950409f, lowest = -3.4028234664e38f;
  const float shift = top * log2e;
  return exp2(fma(x, scale * log2e, -(shift < lowest ? lowest : shift)));
}

/// A divisor shared by several numbers, x / d each: within 2 ulp, one reciprocal for all. A divisor whose
/// reciprocal would overflow or be subnormal is scaled first, with the numbers.
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

/// 1 / sqrt(x) within 2 ulp: one instruction on the device.
ZELLIGE_ANYWHERE float rsqrt(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1.0f / __builtin_sqrtf(x);
#endif
}

/// The larger number, in one instruction on the device; a NaN operand gives NaN, so that an error stays visible.
ZELLIGE_ANYWHERE float max(float x, float y) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  return x > y || x != x ? x : y;
#endif
}
ZELLIGE_ANYWHERE float min(float x, float y) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
  return result;
#else
  return x < y || x != x ? x : y;
#endif
}

/// The larger number, in one instruction; a NaN operand is ignored.
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
/// The exact form, x times the normal distribution function. erf(x)+1 cancels for negative x, hence its
/// complement.
ZELLIGE_ANYWHERE float gelu(float x) {
#if defined(__CUDA_ARCH__)
  return 0.5f * x * ::erfcf(-0.70710678118654752f * x);
#else
  return 0.5f * x * __builtin_erfcf(-0.70710678118654752f * x);
#endif
}
/// The form with tanh: (1 + tanh z) / 2 is sigmoid(2 z), which does not cancel.
ZELLIGE_ANYWHERE float gelu_tanh(float x) {
  constexpr float a = 1.5957691216f, b = 1.5957691216f * 0.044715f;
  return x * sigmoid(x * fma(x * x, b, a));
}

}  // namespace zellige
