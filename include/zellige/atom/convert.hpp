// Packs two floats as 16-bit floats into one 32-bit register and unpacks them, for example to convert the
// accumulators of one MMA to the operands of the next.
//
//   uint32_t a = pack<half_t>(d[0], d[1]);   // d[0] in the low half
//   Vec<float, 2> back = unpack<half_t>(a);
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/vec.hpp>

namespace zellige {

/// Returns `value` as a T, rounded to nearest even; if T is float, unchanged.
template <class T>
ZELLIGE_ANYWHERE T convert(float value) {
  return T(value);
}

/// Returns `low` and `high`, rounded to T (half_t or bfloat16_t), in the low and the high 16 bits.
template <class T>
ZELLIGE_ANYWHERE uint32_t pack(float low, float high) {
  return T::pack(low, high);
}

/// Returns the two numbers of type T (half_t or bfloat16_t) in `pair` as floats; [0] is the low half.
template <class T>
ZELLIGE_ANYWHERE Vec<float, 2> unpack(uint32_t pair) {
  return {{T::bitcast(static_cast<uint16_t>(pair)), T::bitcast(static_cast<uint16_t>(pair >> 16))}};
}

}  // namespace zellige
