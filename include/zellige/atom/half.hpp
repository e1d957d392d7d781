// half_t: IEEE binary16 in two bytes. Arithmetic is in float: a half_t converts to float implicitly
// and exactly; a float converts to half_t explicitly or by assignment, rounded to nearest even.
//
//   half_t h(0.1f);            // 0x2e66
//   float twice = h + h;       // in float
//   half_t square = h * h;     // in float, rounded
#pragma once

#include <zellige/atom/narrow_float.hpp>

namespace zellige {

struct half_t {
  uint16_t bits;

  using narrow_float_tag = void;
  half_t() = default;
  ZELLIGE_ANYWHERE half_t(FloatOf<half_t> value) : half_t(value.value) {}
  ZELLIGE_ANYWHERE explicit half_t(float value) : bits(round(value)) {}
  ZELLIGE_ANYWHERE operator float() const { return widen(bits); }
  ZELLIGE_ANYWHERE half_t& operator=(float value) { return *this = half_t(value); }
  ZELLIGE_ANYWHERE half_t& operator=(FloatOf<half_t> value) { return *this = half_t(value); }
  /// Returns the number whose 16 bits are `bits`.
  ZELLIGE_ANYWHERE static half_t bitcast(uint16_t bits) {
    half_t result;
    result.bits = bits;
    return result;
  }
  /// Returns `low` and `high`, rounded to nearest even, in the low and the high 16 bits of one register.
  ZELLIGE_ANYWHERE static uint32_t pack(float low, float high) {
#if defined(__CUDA_ARCH__)
    uint32_t result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
#else
    return round(low) | static_cast<uint32_t>(round(high)) << 16;
#endif
  }

 private:
  ZELLIGE_ANYWHERE static uint16_t round(float value) {
#if defined(__CUDA_ARCH__)
    return static_cast<uint16_t>(pack(value, 0.0f));  // a single conversion has a quarter of the throughput
#else
    const uint32_t all = __builtin_bit_cast(uint32_t, value);
    const uint32_t sign = all >> 16 & 0x8000u;
    uint32_t magnitude = all & 0x7fffffffu;
#if defined(ZELLIGE_EMULATE)
    if ((all & 0x7fbfffffu) == 0x7f80deadu) return 0x7ead;        // keeps the mark of an accumulator in flight
    if ((magnitude & 0x7ffc0000u) == 0x7fd40000u) return 0x7fd4;  // keeps the mark of an unwritten value
#endif
    if (magnitude > 0x7f800000u) return 0x7fff;                   // NaN: the device's canonical one, without a sign
    if (magnitude >= 0x47800000u) {                               // 2^16 and more: infinity
      magnitude = 0x7c00u;
    } else if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 rounds to multiples of 2^-24
      const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
      magnitude = __builtin_bit_cast(uint32_t, shifted) - 0x3f000000u;
    } else {
      magnitude = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
    }
    return static_cast<uint16_t>(sign | magnitude);
#endif
  }

  ZELLIGE_ANYWHERE static float widen(uint16_t bits) {
#if defined(__CUDA_ARCH__)
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
    return result;
#else
    // The exponent biases of half and float differ by 112, so that one multiplication by 2^112 converts
    // normal and subnormal numbers.
#if defined(ZELLIGE_EMULATE)
    if ((bits & 0x7ffcu) == 0x7fd4u || bits == 0xfefeu) return __builtin_bit_cast(float, 0x7fd40000u);
    if ((bits & 0x7fffu) == 0x7eadu) return __builtin_bit_cast(float, 0x7fc0deadu);
#endif
    const float scaled = __builtin_bit_cast(float, (bits & 0x7fffu) << 13) * 0x1p112f;
    const uint32_t special = scaled >= 65536.0f ? 0x7f800000u : 0u;
    return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, scaled) | special | (bits & 0x8000u) << 16);
#endif
  }
};
static_assert(sizeof(half_t) == 2);

}  // namespace zellige
