// float_ue8m0_t, float_ue4m3_t: the scales of blocks of small floats, without a sign. ue8m0 is a power of two, from 2^-127
// to 2^127; 0xff is its NaN. ue4m3 has the numbers of e4m3 that are not negative. Conversion from float is explicit
// and saturates: ue8m0 rounds up to a power of two, so that a scaled number does not overflow, ue4m3 to
// nearest even. Both take the magnitude of a negative number; an infinity is ue8m0's NaN, and ue4m3's largest number.
//
//   float_ue8m0_t s(3.0f);    // 0x81
//   float y = s;              // 4
#pragma once

#include <zellige/atom/float8.hpp>

namespace zellige {

struct float_ue8m0_t {
  uint8_t bits;

  using narrow_float_tag = void;
  float_ue8m0_t() = default;
  ZELLIGE_ANYWHERE float_ue8m0_t(FloatOf<float_ue8m0_t> value) : float_ue8m0_t(value.value) {}
  ZELLIGE_ANYWHERE explicit float_ue8m0_t(float value) : bits(round(value)) {}
  ZELLIGE_ANYWHERE operator float() const {
    if (bits == 0xffu) return __builtin_bit_cast(float, 0x7fffffffu);
    return __builtin_bit_cast(float, bits == 0 ? 0x00400000u : static_cast<uint32_t>(bits) << 23);
  }
  ZELLIGE_ANYWHERE float_ue8m0_t& operator=(float value) { return *this = float_ue8m0_t(value); }
  ZELLIGE_ANYWHERE float_ue8m0_t& operator=(FloatOf<float_ue8m0_t> value) { return *this = float_ue8m0_t(value); }
  ZELLIGE_ANYWHERE static float_ue8m0_t bitcast(uint8_t bits) {
    float_ue8m0_t result;
    result.bits = bits;
    return result;
  }

 private:
  ZELLIGE_ANYWHERE static uint8_t round(float value) {
    const uint32_t magnitude = __builtin_bit_cast(uint32_t, value) & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) return 0xff;
    const uint32_t power = magnitude >> 23, rest = magnitude & 0x7fffffu;
    // Among the subnormal numbers 2^-127 is the only power of two that ue8m0 has.
    const uint32_t up = power == 0 ? rest > 0x400000u : rest != 0;
    const uint32_t rounded = power + up;
    return static_cast<uint8_t>(rounded > 0xfeu ? 0xfeu : rounded);
  }
};

struct float_ue4m3_t {
  uint8_t bits;

  using narrow_float_tag = void;
  float_ue4m3_t() = default;
  ZELLIGE_ANYWHERE float_ue4m3_t(FloatOf<float_ue4m3_t> value) : float_ue4m3_t(value.value) {}
  ZELLIGE_ANYWHERE explicit float_ue4m3_t(float value) : bits(static_cast<uint8_t>(float_e4m3_t(value).bits & 0x7fu)) {}
  ZELLIGE_ANYWHERE operator float() const { return float_e4m3_t::bitcast(bits); }
  ZELLIGE_ANYWHERE float_ue4m3_t& operator=(float value) { return *this = float_ue4m3_t(value); }
  ZELLIGE_ANYWHERE float_ue4m3_t& operator=(FloatOf<float_ue4m3_t> value) { return *this = float_ue4m3_t(value); }
  ZELLIGE_ANYWHERE static float_ue4m3_t bitcast(uint8_t bits) {
    float_ue4m3_t result;
    result.bits = bits;
    return result;
  }
};
static_assert(sizeof(float_ue8m0_t) == 1 && sizeof(float_ue4m3_t) == 1);

}  // namespace zellige
