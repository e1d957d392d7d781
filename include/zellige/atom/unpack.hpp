// Numbers of 4 bits, two in a byte, and scales of 8 bits, as kernels compute with them.
//
//   const Vec<int8_t, 4> bytes = load<4>(s_w(row, column / 2));
//   const Vec<float, 8> q = unpacked<uint4_packed, float>(bytes);           // element 0 is the lower half of byte 0
//   const int one = unpacked_one<uint4_packed, int>(bytes[0], column % 2);  // of one byte
//
// A packed type has the number of bits of an element, and decode<Value>(), which makes a number of these bits.
#pragma once
#include <zellige/atom/vec.hpp>

namespace zellige {

namespace detail {
/// Returns q - below for a q of 0 to 15, exactly. The bits of q are the last ones of the float 2^23 + q.
template <class Value>
ZELLIGE_CALL Value small_number(uint32_t q, int below) {
  if constexpr (Value(0.5f) == Value(0))  // integers
    return int(q) - below;
  else
    return bit_cast<float>(q | 0x4b000000u) - float(8388608 + below);
}
}  // namespace detail

struct int4_packed {
  static constexpr int bits = 4;
  template <class Value>
  ZELLIGE_CALL static Value decode(uint32_t x) {
    return detail::small_number<Value>(x ^ 8, 8);
  }
};
struct uint4_packed {
  static constexpr int bits = 4;
  template <class Value>
  ZELLIGE_CALL static Value decode(uint32_t x) {
    return detail::small_number<Value>(x, 0);
  }
};
/// A sign, two bits of exponent and one of mantissa: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
struct e2m1_packed {
  static constexpr int bits = 4;
  template <class Value>
  ZELLIGE_CALL static Value decode(uint32_t x) {
    // As an exponent and a mantissa of float32 the three bits are 2^-126 times the number.
    return bit_cast<float>((x & 8) << 28 | (x & 7) << 22) * 0x1p126f;
  }
};
/// A power of two, without a sign: 2^(x - 127); 255 is NaN.
struct e8m0_packed {
  static constexpr int bits = 8;
  template <class Value>
  ZELLIGE_CALL static Value decode(uint32_t x) {
    return bit_cast<float>(x == 255 ? 0x7fffffffu : x == 0 ? 0x00400000u : x << 23);
  }
};

/// Returns the elements that are in `bytes`.
template <class Packed, class Value, class Byte, int N>
ZELLIGE_CALL auto unpacked(const Vec<Byte, N>& bytes) {
  constexpr int per = 8 / Packed::bits, word_bytes = N % 4 == 0 && sizeof(Byte) == 1 ? 4 : 1;
  constexpr uint32_t mask = (1u << Packed::bits) - 1;
  Vec<Value, N * per> result;
#pragma unroll
  for (int i = 0; i < N; i += word_bytes) {
    uint32_t word = uint32_t(bytes[i]) & 255;
    if constexpr (word_bytes == 4) {
      const Vec<Byte, 4> four{{bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]}};
      word = bit_cast<uint32_t>(four);
    }
#pragma unroll
    for (int j = 0; j < per * word_bytes; ++j)
      result[i * per + j] = Packed::template decode<Value>(word >> (Packed::bits * j) & mask);
  }
  return result;
}
/// Returns the element number `at` of those in a byte.
template <class Packed, class Value>
ZELLIGE_CALL Value unpacked_one(int byte, int at) {
  return Packed::template decode<Value>((uint32_t(byte) & 255) >> (Packed::bits * at) & ((1u << Packed::bits) - 1));
}

}  // namespace zellige
