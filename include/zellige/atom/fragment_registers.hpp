// Converts between a fragment, a tensor of one thread's values, and the 32-bit or 64-bit registers that an
// instruction takes as operands.
//
//   uint32_t a[4];
//   load_registers(a, fragment);        // two half_t per register, the first in the low half
//   store_registers(fragment, a);
#pragma once

#include <zellige/atom/vec.hpp>
#include <zellige/tensor.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/emulate/pointer.hpp>
#endif

namespace zellige {

namespace detail {
/// True if the sub-byte values of a fragment X lie in registers of type R one after the other, as in a fragment that a
/// TiledMMA or a TiledCopy makes.
template <class R, class X>
inline constexpr bool lies_in_registers = is_static_v<typename X::layout_type>&& decltype(max_common_vector(
                                              typename X::layout_type{},
                                              Layout<decltype(size(typename X::layout_type{}))>{}))::value %
                                              (8 * int(sizeof(R)) / sizeof_bits_v<typename X::value_type>) ==
                                          0;
}  // namespace detail

/// Packs the values of fragment x into the registers r, the first value into the lowest bits of r[0]. Fails
/// to compile unless the values fill the N registers exactly.
template <class R, int N, tensor_like X>
ZELLIGE_HOST_DEVICE inline void load_registers(R (&r)[N], X const& x) {
  using T = typename X::value_type;
  if constexpr (is_same_v<R, T>) {
    static_assert(decltype(size(x))::value == N,
                  "the fragment does not have the number of values that the instruction takes");
    ZELLIGE_UNROLL
    for (int i = 0; i < N; ++i) r[i] = x(i);
  } else if constexpr (is_subbyte_v<T>) {
    constexpr int bits = sizeof_bits<T>::value, packed = int(8 * sizeof(R)) / bits;
    static_assert(decltype(size(x))::value == N * packed,
                  "the fragment does not have the number of values that the instruction takes");
    if constexpr (detail::lies_in_registers<R, X>) {
      auto const words = recast<R const>(x);
      ZELLIGE_UNROLL
      for (int i = 0; i < N; ++i) r[i] = words(i);
    } else {
      ZELLIGE_UNROLL
      for (int i = 0; i < N; ++i) {
        r[i] = 0;
        ZELLIGE_UNROLL
        for (int j = 0; j < packed; ++j)
          r[i] |= R(__builtin_bit_cast(unsigned char, T(x(i * packed + j)))) << (j * bits);
      }
    }
  } else {
    constexpr int packed = int(sizeof(R) / sizeof(T));
    static_assert(sizeof_bits<T>::value % 8 == 0 && packed * sizeof(T) == sizeof(R),
                  "values of this type do not fill the instruction's registers");
    static_assert(decltype(size(x))::value == N * packed,
                  "the fragment does not have the number of values that the instruction takes");
    ZELLIGE_UNROLL
    for (int i = 0; i < N; ++i) {
      Vec<T, packed> values;
      ZELLIGE_UNROLL
      for (int j = 0; j < packed; ++j) values[j] = x(i * packed + j);
      r[i] = bit_cast<R>(values);
    }
  }
}
/// Unpacks the registers r into the values of fragment x; the first value comes from the lowest bits of r[0].
/// Fails to compile unless the values fill the N registers exactly.
template <class R, int N, tensor_like X>
ZELLIGE_HOST_DEVICE inline void store_registers(X&& x, R const (&r)[N]) {
  using T = typename remove_cvref_t<X>::value_type;
  if constexpr (is_same_v<R, T>) {
    static_assert(decltype(size(x))::value == N,
                  "the fragment does not have the number of values that the instruction gives");
    ZELLIGE_UNROLL
    for (int i = 0; i < N; ++i) x(i) = r[i];
  } else if constexpr (is_subbyte_v<T>) {
    constexpr int bits = sizeof_bits<T>::value, packed = int(8 * sizeof(R)) / bits;
    static_assert(8 * int(sizeof(R)) % bits == 0, "values of this type do not fill the instruction's registers");
    static_assert(decltype(size(x))::value == N * packed,
                  "the fragment does not have the number of values that the instruction gives");
    if constexpr (detail::lies_in_registers<R, remove_cvref_t<X>>) {
      auto words = recast<R>(x);
      ZELLIGE_UNROLL
      for (int i = 0; i < N; ++i) words(i) = r[i];
    } else {
      constexpr R mask = (R(1) << bits) - 1;
      ZELLIGE_UNROLL
      for (int i = 0; i < N; ++i) {
        ZELLIGE_UNROLL
        for (int j = 0; j < packed; ++j)
          x(i * packed + j) = __builtin_bit_cast(T, static_cast<unsigned char>(r[i] >> (j * bits) & mask));
      }
    }
  } else {
    constexpr int packed = int(sizeof(R) / sizeof(T));
    static_assert(sizeof_bits<T>::value % 8 == 0 && packed * sizeof(T) == sizeof(R),
                  "values of this type do not fill the instruction's registers");
    static_assert(decltype(size(x))::value == N * packed,
                  "the fragment does not have the number of values that the instruction gives");
    ZELLIGE_UNROLL
    for (int i = 0; i < N; ++i) {
      auto const values = bit_cast<Vec<T, packed>>(r[i]);
      ZELLIGE_UNROLL
      for (int j = 0; j < packed; ++j) x(i * packed + j) = values[j];
    }
  }
}

/// Returns the address to which tensor iterator p points, for an instruction's operand: a raw pointer on the
/// device, a checked pointer on the emulator. If p has a swizzle, the swizzle is applied to the address.
#if defined(ZELLIGE_EMULATE)
template <class T>
inline emulate::pointer<T> instruction_address(T* p) {
  return emulate::known(p);
}
#else
template <class T>
ZELLIGE_HOST_DEVICE constexpr T* instruction_address(T* p) {
  return p;
}
#endif
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto instruction_address(subbyte_iterator<T> const& p) {
  return p.ptr_;
}
template <class It>
requires requires(It it) {
  it.template recast<unsigned char>();
  it.region;
}
ZELLIGE_HOST_DEVICE constexpr It instruction_address(It const& p) { return p; }
template <memory_pointer P>
ZELLIGE_HOST_DEVICE constexpr auto instruction_address(P const& p) {
  return instruction_address(p.p);
}
template <class Sw, class It>
ZELLIGE_HOST_DEVICE constexpr auto instruction_address(swizzle_ptr<Sw, It> const& p) {
  return instruction_address(swizzle_ptr<Sw, It>::apply_swizzle(p.ptr_));
}

/// Returns the address of element 0 of tensor x: a raw pointer on the device, a checked pointer on the
/// emulator. Includes the offset of x's layout and the swizzle of its iterator.
template <tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto first_address(X const& x) {
  return instruction_address(x.data() + x.layout()(Int<0>{}));
}

/// Returns iterator p without its swizzle. TMA and wgmma need this address of a tile, because they apply the
/// swizzle in hardware.
template <class It>
ZELLIGE_HOST_DEVICE constexpr It raw_tile(It const& p) {
  return p;
}
template <class Sw, class It>
ZELLIGE_HOST_DEVICE constexpr It raw_tile(swizzle_ptr<Sw, It> const& p) {
  return p.ptr_;
}

}  // namespace zellige
