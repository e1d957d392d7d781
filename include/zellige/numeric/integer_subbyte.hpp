// Defines integers smaller than a byte: int4b_t, uint2b_t, uint1b_t and others. A single object takes a byte; tensors
// and arrays of these types are packed (tensor/subbyte.hpp).
//
//   int(int4b_t(-5)) == -5        int(uint4b_t(-5)) == 11        int4b_t(9) is int4b_t(-7): values wrap
#pragma once
#include <zellige/layout/algebra.hpp>

namespace zellige {

/// An integer of `Bits` bits. Values wrap modulo 2^Bits; arithmetic converts to int or unsigned.
template <int Bits, bool Signed = true>
struct integer_subbyte {
  static_assert(0 < Bits && Bits < 8, "integer_subbyte<Bits, Signed>: Bits must be 1 to 7");
  using xint_t = conditional_t<Signed, int, unsigned>;
  static constexpr unsigned char mask = (1 << Bits) - 1;

  unsigned char storage;  // the low Bits bits are the value, the others are zero

  integer_subbyte() = default;
  template <integral I>
  ZELLIGE_HOST_DEVICE constexpr integer_subbyte(I const& value)
      : storage(static_cast<unsigned char>(static_cast<unsigned>(value) & mask)) {}
  ZELLIGE_HOST_DEVICE constexpr explicit integer_subbyte(float value) : integer_subbyte(int(value)) {}
  ZELLIGE_HOST_DEVICE constexpr explicit integer_subbyte(double value) : integer_subbyte(int(value)) {}

  /// Converts the value to int or unsigned, the type in which arithmetic and comparisons are done.
  ZELLIGE_HOST_DEVICE constexpr operator xint_t() const {
    if constexpr (Signed)
      return (int(storage) ^ 1 << (Bits - 1)) - (1 << (Bits - 1));
    else
      return storage;
  }
};
template <int Bits, bool Signed>
struct sizeof_bits<integer_subbyte<Bits, Signed>> : Int<Bits> {};

using bin1_t = bool;
using uint1b_t = integer_subbyte<1, false>;
using int2b_t = integer_subbyte<2, true>;
using uint2b_t = integer_subbyte<2, false>;
using int4b_t = integer_subbyte<4, true>;
using uint4b_t = integer_subbyte<4, false>;
using int6b_t = integer_subbyte<6, true>;
using uint6b_t = integer_subbyte<6, false>;

}  // namespace zellige
