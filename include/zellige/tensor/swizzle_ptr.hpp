// Defines swizzle_ptr: a pointer whose address is swizzled on access, as TMA and wgmma swizzle shared memory. A
// tensor can be swizzled in two ways, by swizzling the index or the address. The element at coordinate c of a
// tensor that begins at `address` is at
//
//   address + layout(c)                  without a swizzle
//   address + Sw(offset + layout(c))     with a composed layout Sw o offset o layout; the address may be any
//   Sw(address + layout(c))              with a swizzle_ptr and a layout, as TMA and wgmma do; the bits of the address
//                                        matter, so the tile must begin at a multiple of the swizzle's period
#pragma once
#include <zellige/tensor/pointer.hpp>

namespace zellige {

/// A pointer whose address is swizzled when it is dereferenced; pointer arithmetic is linear.
template <class SwizzleFn, class It>
struct swizzle_ptr {
  using iterator = It;
  using reference = iter_reference_t<It>;
  using element_type = iter_element_t<It>;
  using value_type = iter_value_t<It>;

  It ptr_ = {};

  ZELLIGE_HOST_DEVICE constexpr It get() const { return ptr_; }
  ZELLIGE_HOST_DEVICE constexpr reference operator*() const { return *apply_swizzle(ptr_); }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr reference operator[](I const& i) const {
    return *apply_swizzle(ptr_ + i);
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr swizzle_ptr operator+(I const& i) const {
    return {ptr_ + i};
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator==(swizzle_ptr const& a, swizzle_ptr const& b) {
    return a.ptr_ == b.ptr_;
  }

  /// Returns the pointer to the swizzled address of p.
  template <class T>
  ZELLIGE_HOST_DEVICE static constexpr T* apply_swizzle(T* p) {
    return reinterpret_cast<T*>(SwizzleFn::apply(reinterpret_cast<size_t>(p)));
  }
  template <class T>
  ZELLIGE_HOST_DEVICE static constexpr subbyte_iterator<T> apply_swizzle(subbyte_iterator<T> p) {
    return {apply_swizzle(p.ptr_), p.idx_};
  }
  template <memory_pointer P>
  ZELLIGE_HOST_DEVICE static constexpr P apply_swizzle(P const& p) {
    return P(apply_swizzle(p.p));
  }
  /// Returns the pointer to the swizzled address of p, for a pointer type that has its own function
  /// swizzle_address, such as the emulator's.
  template <class P>
  requires requires(P const& p) { swizzle_address(p, SwizzleFn{}); }
  ZELLIGE_HOST_DEVICE static constexpr P apply_swizzle(P const& p) { return swizzle_address(p, SwizzleFn{}); }
};

/// Returns a swizzle_ptr for the iterator, or the iterator itself if the swizzle has no bits.
template <class It, class SwizzleFn>
ZELLIGE_HOST_DEVICE constexpr swizzle_ptr<SwizzleFn, It> make_swizzle_ptr(It const& it, SwizzleFn const&) {
  return {it};
}
template <class It, int M, int S>
ZELLIGE_HOST_DEVICE constexpr It make_swizzle_ptr(It const& it, Swizzle<0, M, S> const&) {
  return it;
}
/// Returns the pointer inside a swizzle_ptr; any other iterator is returned unchanged.
template <class It>
ZELLIGE_HOST_DEVICE constexpr It without_swizzle(It const& it) {
  return it;
}
template <class SwizzleFn, class It>
ZELLIGE_HOST_DEVICE constexpr It without_swizzle(swizzle_ptr<SwizzleFn, It> const& it) {
  return it.ptr_;
}
/// Returns the pointer, tagged as shared memory and with the given swizzle, which replaces any swizzle that
/// the pointer has.
template <class It, swizzle_like Sw>
ZELLIGE_HOST_DEVICE constexpr auto make_smem_ptr(It const& it, Sw const& swizzle) {
  return make_swizzle_ptr(make_smem_ptr(without_swizzle(it)), swizzle);
}

/// Returns the raw pointer inside the swizzle_ptr: without its swizzle and memory space.
template <class Sw, class It>
requires requires(It const& it) { raw_pointer_cast(it); }
ZELLIGE_HOST_DEVICE constexpr auto raw_pointer_cast(swizzle_ptr<Sw, It> const& p) { return raw_pointer_cast(p.ptr_); }
/// Returns a swizzle_ptr to the same address with elements of type U. The swizzle stays the same, because it
/// applies to byte addresses.
template <class U, class Sw, class It>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(swizzle_ptr<Sw, It> const& p) {
  return make_swizzle_ptr(recast_ptr<U>(p.ptr_), Sw{});
}
/// Returns how many elements the swizzle keeps contiguous: the number of elements in 2^M bytes, but at least
/// 1.
template <int B, int M, int S, class It>
ZELLIGE_HOST_DEVICE constexpr auto max_alignment(swizzle_ptr<Swizzle<B, M, S>, It> const&) {
  constexpr int elements = (8 << M) / sizeof_bits_v<iter_value_t<It>>;
  return Int<(elements > 0 ? elements : 1)>{};
}

namespace detail {
template <class Sw, class It>
inline constexpr bool names_memory<swizzle_ptr<Sw, It>> = names_memory<It>;

template <class T>
struct swizzle_of {
  using type = Swizzle<0, 4, 3>;
};
template <int B, int M, int S>
struct swizzle_of<Swizzle<B, M, S>> {
  using type = Swizzle<B, M, S>;
};
template <class A, class O, class L>
struct swizzle_of<ComposedLayout<A, O, L>> : swizzle_of<A> {};
template <class Sw, class It>
struct swizzle_of<swizzle_ptr<Sw, It>> : swizzle_of<Sw> {};
template <class T>
requires requires { typename T::iterator; }
struct swizzle_of<T> : swizzle_of<typename T::iterator> {};
}  // namespace detail
/// The swizzle of a layout, pointer, engine or tensor; the identity Swizzle<0, 4, 3> if there is none.
template <class T>
struct get_swizzle : detail::swizzle_of<remove_cvref_t<T>> {};
template <class T>
using get_swizzle_t = typename get_swizzle<T>::type;

namespace detail {
/// Returns a swizzle of byte addresses converted to a swizzle of indices of elements of `bits` bits.
template <int bits, class Sw>
ZELLIGE_HOST_DEVICE constexpr auto swizzle_of_elements(Sw const& swizzle) {
  static_assert(bits % 8 == 0 || 8 % bits == 0,
                "as_position_independent_swizzle_layout: a swizzle of bytes is no swizzle of elements of so many bits");
  if constexpr (bits >= 8)
    return upcast<bits / 8>(swizzle);
  else
    return downcast<8 / bits>(swizzle);
}
}  // namespace detail
/// Returns a layout whose swizzle applies to shared-memory addresses converted to a layout whose swizzle
/// applies to indices. Both address the same elements if the tile begins at a multiple of the swizzle's
/// period.
template <class Sw, int Bits, class L>
ZELLIGE_HOST_DEVICE constexpr auto as_position_independent_swizzle_layout(
    ComposedLayout<Sw, smem_ptr_flag_bits<Bits>, L> const& layout) {
  return composition(detail::swizzle_of_elements<Bits>(layout.layout_a()), layout.layout_b());
}

}  // namespace zellige
