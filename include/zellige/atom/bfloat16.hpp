// bfloat16_t: a 16-bit float with 8 exponent bits, the upper half of an IEEE float. As for half_t, arithmetic
// is in float, and a result assigned to a bfloat16_t is rounded to nearest even.
#pragma once

#include <zellige/atom/narrow_float.hpp>

namespace zellige {

struct bfloat16_t {
  uint16_t bits;

  using narrow_float_tag = void;
  bfloat16_t() = default;
  ZELLIGE_ANYWHERE bfloat16_t(FloatOf<bfloat16_t> value) : bfloat16_t(value.value) {}
  ZELLIGE_ANYWHERE explicit bfloat16_t(float value) : bits(round(value)) {}
  ZELLIGE_ANYWHERE operator float() const { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }
  ZELLIGE_ANYWHERE bfloat16_t& operator=(float value) { return *this = bfloat16_t(value); }
  ZELLIGE_ANYWHERE bfloat16_t& operator=(FloatOf<bfloat16_t> value) { return *this = bfloat16_t(value); }
  /// Returns the number whose 16 bits are `bits`.
  ZELLIGE_ANYWHERE static bfloat16_t bitcast(uint16_t bits) {
    bfloat16_t result;
    result.bits = bits;
    return result;
  }
  /// Returns `low` and `high`, rounded to nearest even, in the low and the high 16 bits of one register.
  ZELLIGE_ANYWHERE static uint32_t pack(float low, float high) {
#if defined(__CUDA_ARCH__)
    uint32_t result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
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
#if defined(ZELLIGE_EMULATE)
    if ((all & 0x7fbfffffu) == 0x7f80deadu) return 0x7fea;  // keeps the mark of an accumulator in flight
    if ((all & 0x7ffc0000u) == 0x7fd40000u) return 0x7fd4;  // keeps the mark of an unwritten value
#endif
    if ((all & 0x7fffffffu) > 0x7f800000u) return 0x7fff;   // NaN: the device's canonical one
    return static_cast<uint16_t>((all + 0x7fffu + (all >> 16 & 1u)) >> 16);
#endif
  }
};
static_assert(sizeof(bfloat16_t) == 2);

}  // namespace zellige
