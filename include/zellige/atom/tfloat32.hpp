// Defines tfloat32_t, the tf32 operand type of tensor cores: a float in four bytes, of which tensor cores read the
// upper 19 bits. Conversion from float rounds to nearest, ties away from zero, like PTX's cvt.rna.
//
//   tfloat32_t x(0.1f);
//   float read = x;            // what an MMA reads
#pragma once

#include <zellige/atom/narrow_float.hpp>

namespace zellige {

struct tfloat32_t {
  uint32_t bits;

  using narrow_float_tag = void;
  tfloat32_t() = default;
  ZELLIGE_ANYWHERE tfloat32_t(FloatOf<tfloat32_t> value) : tfloat32_t(value.value) {}
  ZELLIGE_ANYWHERE explicit tfloat32_t(float value) : bits(round(value)) {}
  /// Returns the number that an MMA reads: the low 13 bits are zero.
  ZELLIGE_ANYWHERE operator float() const { return __builtin_bit_cast(float, bits & 0xffffe000u); }
  ZELLIGE_ANYWHERE tfloat32_t& operator=(float value) { return *this = tfloat32_t(value); }
  ZELLIGE_ANYWHERE tfloat32_t& operator=(FloatOf<tfloat32_t> value) { return *this = tfloat32_t(value); }
  ZELLIGE_ANYWHERE static tfloat32_t bitcast(uint32_t bits) {
    tfloat32_t result;
    result.bits = bits;
    return result;
  }

 private:
  ZELLIGE_ANYWHERE static uint32_t round(float value) {
#if defined(__CUDA_ARCH__)
    uint32_t result;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(value));
    return result;
#else
    const uint32_t all = __builtin_bit_cast(uint32_t, value);
    if ((all & 0x7f800000u) == 0x7f800000u) return all;  // infinities and NaN keep their bits
    return (all + 0x1000u) & 0xffffe000u;
#endif
  }
};
static_assert(sizeof(tfloat32_t) == 4);

}  // namespace zellige
