// Packs two floats as 16-bit numbers into one 32-bit register, and unpacks: converts accumulators to MMA
// operands.
//
//   uint32_t a = pack<half_t>(d[0], d[1]);   // d[0] in the low half
//   Vec<float, 2> back = unpack<half_t>(a);
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/vec.hpp>

namespace zellige {

/// Rounds to nearest even; a float is unchanged.
template <class T>
ZELLIGE_ANYWHERE T convert(float value) {
  return T(value);
}

template <class T>
ZELLIGE_ANYWHERE uint32_t pack(float low, float high) {
  return T::pack(low, high);
}

/// The two numbers in a register; [0] is the low half.
template <class T>
ZELLIGE_ANYWHERE Vec<float, 2> unpack(uint32_t pair) {
  return {{T::bitcast(static_cast<uint16_t>(pair)), T::bitcast(static_cast<uint16_t>(pair >> 16))}};
}

}  // namespace zellige
