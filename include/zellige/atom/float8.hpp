// float_e4m3_t, float_e5m2_t: 8-bit floats. e4m3 has the largest finite value 448 and no infinity (0x7f is its
// NaN); e5m2 is the upper half of an IEEE half. Conversion from float is explicit, rounds to nearest even and
// saturates, like cvt.rn.satfinite. T::nearest overflows to infinity (e5m2) or NaN (e4m3), like PyTorch.
//
//   float_e4m3_t x(0.3f);     // 0x2a
//   float y = x;              // 0.3125
#pragma once

#include <zellige/atom/half.hpp>

namespace zellige {

namespace detail {

/// Returns the bits of `value` as an 8-bit float with `Mantissa` mantissa bits and exponent bias `Bias`,
/// rounded to nearest even. `largest`, `past` and `nan` are 8-bit floats, as bits. If the rounded magnitude
/// exceeds `largest`, returns `past` with the sign of `value`, or `nan` if `past` is `nan`. If `value` is a
/// NaN, returns `nan`.
template <int Mantissa, int Bias>
ZELLIGE_ANYWHERE uint32_t round_small_float(float value, uint32_t largest, uint32_t past, uint32_t nan) {
  const uint32_t all = __builtin_bit_cast(uint32_t, value);
  const uint32_t magnitude = all & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return nan;
  uint32_t bits;
  if (magnitude < static_cast<uint32_t>(128 - Bias) << 23) {
    // Below the least normal number: adding the power of two `shift` rounds to a multiple of the least
    // subnormal; the low bits of the sum are then the number of these multiples.
    const float shift = __builtin_bit_cast(float, static_cast<uint32_t>(128 - Bias + 23 - Mantissa) << 23);
    const float sum = __builtin_bit_cast(float, magnitude) + shift;
    bits = __builtin_bit_cast(uint32_t, sum) - __builtin_bit_cast(uint32_t, shift);
  } else {
    const int drop = 23 - Mantissa;
    bits =
        (magnitude + (1u << (drop - 1)) - 1 + (magnitude >> drop & 1u) - (static_cast<uint32_t>(127 - Bias) << 23)) >>
        drop;
  }
  if (bits > largest && past == nan) return nan;
  return (bits > largest ? past : bits) | (all >> 24 & 0x80u);
}

}  // namespace detail

struct float_e4m3_t {
  uint8_t bits;

  using narrow_float_tag = void;
  float_e4m3_t() = default;
  ZELLIGE_ANYWHERE float_e4m3_t(FloatOf<float_e4m3_t> value) : float_e4m3_t(value.value) {}
  ZELLIGE_ANYWHERE explicit float_e4m3_t(float value)
      : bits(static_cast<uint8_t>(detail::round_small_float<3, 7>(value, 0x7e, 0x7e, 0x7f))) {}
  ZELLIGE_ANYWHERE operator float() const {
    if ((bits & 0x7fu) == 0x7fu) return __builtin_bit_cast(float, 0x7fffffffu);
    const float magnitude = __builtin_bit_cast(float, (bits & 0x7fu) << 20) * 0x1p120f;
    return bits & 0x80u ? -magnitude : magnitude;
  }
  ZELLIGE_ANYWHERE float_e4m3_t& operator=(float value) { return *this = float_e4m3_t(value); }
  ZELLIGE_ANYWHERE float_e4m3_t& operator=(FloatOf<float_e4m3_t> value) { return *this = float_e4m3_t(value); }
  /// Returns `value` rounded to nearest even, or NaN if the rounded magnitude exceeds 448.
  ZELLIGE_ANYWHERE static float_e4m3_t nearest(float value) {
    return bitcast(static_cast<uint8_t>(detail::round_small_float<3, 7>(value, 0x7e, 0x7f, 0x7f)));
  }
  ZELLIGE_ANYWHERE static float_e4m3_t bitcast(uint8_t bits) {
    float_e4m3_t result;
    result.bits = bits;
    return result;
  }
};

struct float_e5m2_t {
  uint8_t bits;

  using narrow_float_tag = void;
  float_e5m2_t() = default;
  ZELLIGE_ANYWHERE float_e5m2_t(FloatOf<float_e5m2_t> value) : float_e5m2_t(value.value) {}
  ZELLIGE_ANYWHERE explicit float_e5m2_t(float value)
      : bits(static_cast<uint8_t>(detail::round_small_float<2, 15>(value, 0x7b, 0x7b, 0x7f))) {}
  ZELLIGE_ANYWHERE operator float() const { return half_t::bitcast(static_cast<uint16_t>(bits << 8)); }
  ZELLIGE_ANYWHERE float_e5m2_t& operator=(float value) { return *this = float_e5m2_t(value); }
  ZELLIGE_ANYWHERE float_e5m2_t& operator=(FloatOf<float_e5m2_t> value) { return *this = float_e5m2_t(value); }
  /// Returns `value` rounded to nearest even, or infinity if the rounded magnitude exceeds 57344.
  ZELLIGE_ANYWHERE static float_e5m2_t nearest(float value) {
    return bitcast(static_cast<uint8_t>(detail::round_small_float<2, 15>(value, 0x7b, 0x7c, 0x7f)));
  }
  ZELLIGE_ANYWHERE static float_e5m2_t bitcast(uint8_t bits) {
    float_e5m2_t result;
    result.bits = bits;
    return result;
  }
};
static_assert(sizeof(float_e4m3_t) == 1 && sizeof(float_e5m2_t) == 1);

}  // namespace zellige
