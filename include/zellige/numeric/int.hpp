// Names integer types by their width: in bits, as in int_bit_t<32>, uint_bit_t<4> and uint_bit_t<128>, or in bytes, as
// in uint_byte_t<2>. Also defines short names for the types smaller than a byte, such as int4_t and uint2_t.
#pragma once
#include <zellige/numeric/integer_subbyte.hpp>
#include <zellige/numeric/uint128.hpp>

namespace zellige {

using int2_t = int2b_t;
using int4_t = int4b_t;
using int6_t = int6b_t;
using uint1_t = uint1b_t;
using uint2_t = uint2b_t;
using uint4_t = uint4b_t;
using uint6_t = uint6b_t;

template <int N>
struct int_bit {
  using type = integer_subbyte<N, true>;
};
template <>
struct int_bit<8> {
  using type = signed char;
};
template <>
struct int_bit<16> {
  using type = short;
};
template <>
struct int_bit<32> {
  using type = int;
};
template <>
struct int_bit<64> {
  using type = long;
};
template <int N>
struct uint_bit {
  using type = integer_subbyte<N, false>;
};
template <>
struct uint_bit<8> {
  using type = unsigned char;
};
template <>
struct uint_bit<16> {
  using type = unsigned short;
};
template <>
struct uint_bit<32> {
  using type = unsigned;
};
template <>
struct uint_bit<64> {
  using type = unsigned long;
};
template <>
struct uint_bit<128> {
  using type = uint128_t;
};
template <int N>
using int_bit_t = typename int_bit<N>::type;
template <int N>
using uint_bit_t = typename uint_bit<N>::type;
template <int N>
using int_byte_t = int_bit_t<8 * N>;
template <int N>
using uint_byte_t = uint_bit_t<8 * N>;

}  // namespace zellige
