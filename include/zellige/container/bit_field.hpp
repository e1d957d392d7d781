// Defines bit_field<Start, Bits>: a number of `Bits` bits that begins at bit `Start` of an array of words. A number
// that crosses a word boundary is read and written in two parts.
//
//   bit_field<60, 10> f{};  f = 0x3ff;  unsigned(f) is 0x3ff        // 4 bits of word 0, 6 of word 1
#pragma once
#include <zellige/numeric/int.hpp>

namespace zellige {

namespace detail {
// Returns the smallest of 8, 16, 32 and 64 that is at least n, for n up to 64.
ZELLIGE_ALGEBRA consteval int word_for(int n) { return n <= 8 ? 8 : n <= 16 ? 16 : n <= 32 ? 32 : 64; }
/// Returns the smallest word size, in bits, for which bits start to start + n - 1 are in one word; 64 if
/// there is none.
ZELLIGE_ALGEBRA consteval int word_around(int start, int n) {
  int word = 8;
  while (word < 64 && start / word != (start + n - 1) / word) word *= 2;
  return word;
}
struct no_other_type {};
}  // namespace detail

/// A field of Bits bits. It converts to and from an unsigned number and, if U is given, an object of type U
/// with the same bits.
template <int Start, int Bits, class U = detail::no_other_type>
struct bit_field {
  static_assert(0 < Bits && Bits <= 64, "bit_field<Start, Bits>: Bits must be 1 to 64");
  using value_type = uint_bit_t<detail::word_for(Bits)>;
  using storage_type = uint_bit_t<detail::word_around(Start, Bits)>;
  static_assert(sizeof(U) == sizeof(value_type) || is_same_v<U, detail::no_other_type>,
                "bit_field<Start, Bits, U>: a U must have the size of the field's number");

  static constexpr int value_type_bits = 8 * sizeof(value_type);
  static constexpr int storage_type_bits = 8 * sizeof(storage_type);
  static constexpr int N = (Start + Bits + storage_type_bits - 1) / storage_type_bits;
  static constexpr int idx = Start / storage_type_bits;
  static constexpr int bit_lo = Start % storage_type_bits;
  // Number of the field's bits in the first of two words; 0 if the field is in one word.
  static constexpr int bit_hi = idx + 1 < N ? storage_type_bits - bit_lo : 0;
  static constexpr value_type mask = value_type(~0ull >> (64 - Bits));
  static constexpr storage_type mask_lo = storage_type(storage_type(mask) << bit_lo);
  static constexpr storage_type mask_hi = bit_hi != 0 ? storage_type(mask >> bit_hi) : storage_type(0);

  storage_type data_[N];

  ZELLIGE_HOST_DEVICE constexpr value_type get() const {
    storage_type word = storage_type((data_[idx] & mask_lo) >> bit_lo);
    if constexpr (bit_hi != 0) word |= storage_type((data_[idx + 1] & mask_hi) << bit_hi);
    return value_type(word);
  }
  ZELLIGE_HOST_DEVICE constexpr void set(value_type x) {
    storage_type const word = storage_type(x & mask);
    data_[idx] = storage_type((data_[idx] & ~mask_lo) | storage_type(word << bit_lo));
    if constexpr (bit_hi != 0)
      data_[idx + 1] = storage_type((data_[idx + 1] & ~mask_hi) | storage_type(word >> bit_hi));
  }
  ZELLIGE_HOST_DEVICE constexpr bit_field& operator=(value_type x) { return set(x), *this; }
  ZELLIGE_HOST_DEVICE constexpr operator value_type() const { return get(); }
  ZELLIGE_HOST_DEVICE constexpr bit_field& operator=(U const& x) { return *this = __builtin_bit_cast(value_type, x); }
  ZELLIGE_HOST_DEVICE constexpr operator U() const { return __builtin_bit_cast(U, get()); }
};

}  // namespace zellige
