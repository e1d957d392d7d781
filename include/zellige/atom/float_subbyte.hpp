// float_e2m1_t, float_e2m3_t, float_e3m2_t: floats of 4 and 6 bits, of the OCP Microscaling formats. None has an infinity or
// a NaN. Conversion from float is explicit, rounds to nearest even and saturates, like cvt.rn.satfinite; a NaN
// becomes the largest number. A single object takes a byte; tensors and arrays of these types are packed.
//
//   float_e2m1_t x(2.4f);     // 0x4
//   float y = x;              // 2
#pragma once

#include <zellige/atom/float8.hpp>
#include <zellige/layout/algebra.hpp>

namespace zellige {

namespace detail {

/// Returns the number with `Mantissa` mantissa bits and exponent bias `Bias` whose magnitude has the bits `magnitude`.
template <int Mantissa, int Bias>
ZELLIGE_ANYWHERE float widen_small_float(uint32_t magnitude, bool negative) {
  const float scale = __builtin_bit_cast(float, static_cast<uint32_t>(254 - Bias) << 23);  // 2^(127 - Bias)
  const float value = __builtin_bit_cast(float, magnitude << (23 - Mantissa)) * scale;
  return negative ? -value : value;
}

/// A float of `Bits` bits: one of the sign, `Mantissa` of the mantissa, and those of the exponent between them. Self is
/// the number type.
template <class Self, int Bits, int Mantissa>
struct SubbyteFloat {
  static constexpr int bias = (1 << (Bits - Mantissa - 2)) - 1;
  static constexpr uint32_t sign = 1u << (Bits - 1), largest = sign - 1;

  uint8_t bits;

  using narrow_float_tag = void;
  SubbyteFloat() = default;
  ZELLIGE_ANYWHERE explicit SubbyteFloat(float value) {
    // The largest number of the type is no NaN: "past" is another one, so that overflow saturates.
    const uint32_t byte = round_small_float<Mantissa, bias>(value, largest, largest, largest | 0x100u);
    bits = static_cast<uint8_t>((byte & largest) | (byte & 0x80u ? sign : 0u));
  }
  ZELLIGE_ANYWHERE operator float() const {
    return widen_small_float<Mantissa, bias>(bits & largest, (bits & sign) != 0);
  }
  ZELLIGE_ANYWHERE Self& operator=(float value) { return static_cast<Self&>(*this) = Self(value); }
  ZELLIGE_ANYWHERE Self& operator=(FloatOf<Self> value) { return static_cast<Self&>(*this) = Self(value.value); }
  /// Returns the number whose bits are `bits`.
  ZELLIGE_ANYWHERE static Self bitcast(uint8_t bits) {
    Self result;
    result.bits = bits;
    return result;
  }
};

}  // namespace detail

#define ZELLIGE_SUBBYTE_FLOAT(name, total, mantissa)                  \
  struct name : detail::SubbyteFloat<name, total, mantissa> {         \
    using Base = detail::SubbyteFloat<name, total, mantissa>;         \
    name() = default;                                                 \
    ZELLIGE_ANYWHERE name(FloatOf<name> value) : Base(value.value) {} \
    ZELLIGE_ANYWHERE explicit name(float value) : Base(value) {}      \
    using Base::operator=;                                            \
  };                                                                  \
  template <>                                                         \
  struct sizeof_bits<name> : Int<total> {};                           \
  static_assert(sizeof(name) == 1);
ZELLIGE_SUBBYTE_FLOAT(float_e2m1_t, 4, 1)
ZELLIGE_SUBBYTE_FLOAT(float_e2m3_t, 6, 3)
ZELLIGE_SUBBYTE_FLOAT(float_e3m2_t, 6, 2)
#undef ZELLIGE_SUBBYTE_FLOAT

}  // namespace zellige
