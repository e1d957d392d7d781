// swizzle_ptr: a pointer whose address is swizzled on access, as TMA and wgmma swizzle shared memory. The
// layout stays linear, and the bits of the address decide, so the tile must begin at a multiple of the
// swizzle's period. The two ways to swizzle a tensor differ in what is swizzled (in brackets), the index or
// the address:
//
//   layout              element <- address + [layout]
//   Sw o offset o layout     element <- address + [Sw <- offset + layout]     at any tile address
//   swizzle_ptr              [element <- Sw <- address] + layout              as for TMA and WGMMA
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

  /// Returns the swizzled address.
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
  /// Returns the swizzled address of a pointer with its own swizzle_address function, such as the emulator's.
  template <class P>
  requires requires(P const& p) { swizzle_address(p, SwizzleFn{}); }
  ZELLIGE_HOST_DEVICE static constexpr P apply_swizzle(P const& p) { return swizzle_address(p, SwizzleFn{}); }
};

/// Returns a swizzle_ptr, or the iterator itself if the swizzle has no bits.
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
/// Tags a pointer as shared memory with a swizzle, which replaces any swizzle that the pointer has.
template <class It, swizzle_like Sw>
ZELLIGE_HOST_DEVICE constexpr auto make_smem_ptr(It const& it, Sw const& swizzle) {
  return make_swizzle_ptr(make_smem_ptr(without_swizzle(it)), swizzle);
}

/// Returns the pointer inside, without the swizzle.
template <class Sw, class It>
requires requires(It const& it) { raw_pointer_cast(it); }
ZELLIGE_HOST_DEVICE constexpr auto raw_pointer_cast(swizzle_ptr<Sw, It> const& p) {
  return raw_pointer_cast(p.ptr_);
}
/// Returns the same address with elements of type U. The swizzle stays the same, since it applies to byte
/// addresses.
template <class U, class Sw, class It>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(swizzle_ptr<Sw, It> const& p) {
  return make_swizzle_ptr(recast_ptr<U>(p.ptr_), Sw{});
}
/// Returns how many elements a swizzle keeps contiguous: 2^M bytes, at least one element.
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
/// Converts a swizzle of byte addresses to one of indices of elements of `bits` bits.
template <int bits, class Sw>
ZELLIGE_HOST_DEVICE constexpr auto swizzle_of_elements(Sw const& swizzle) {
  if constexpr (bits >= 8)
    return upcast<bits / 8>(swizzle);
  else
    return downcast<8 / bits>(swizzle);
}
}  // namespace detail
/// Converts a layout whose swizzle applies to a shared-memory address to one that swizzles indices. Both
/// address the same elements if the tile begins at a multiple of the swizzle's period.
template <class Sw, int Bits, class L>
ZELLIGE_HOST_DEVICE constexpr auto as_position_independent_swizzle_layout(
    ComposedLayout<Sw, smem_ptr_flag_bits<Bits>, L> const& layout) {
  return make_composed_layout(detail::swizzle_of_elements<Bits>(layout.layout_a()), Int<0>{},
                              layout.layout_b());
}

}  // namespace zellige
