// Supports structured sparsity: a sparse_elem is one stored element that represents N logical elements, and a
// sparse_ptr is a pointer that counts in logical elements.
//
//   sparse_elem<2, half_t>                  one stored half_t that represents two logical elements
//   make_sparse_ptr<2>(p)[5]                is *(p + 2): the logical elements 4 and 5 share one stored element
#pragma once
#include <zellige/tensor/check.hpp>
#include <zellige/tensor/pointer.hpp>

namespace zellige {

/// One stored element of type T that represents N logical elements.
template <int N, class T>
struct sparse_elem {
  static constexpr int sparsity = N;
  using raw_type = T;
  T elem_;
  ZELLIGE_HOST_DEVICE constexpr explicit sparse_elem(T const& elem = {}) : elem_(elem) {}
  ZELLIGE_HOST_DEVICE friend constexpr bool operator==(sparse_elem const& a, sparse_elem const& b) {
    return a.elem_ == b.elem_;
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator<(sparse_elem const& a, sparse_elem const& b) {
    return a.elem_ < b.elem_;
  }
};
template <int N, class T>
inline constexpr bool is_sparse_v<sparse_elem<N, T>> = true;
template <int N, class T>
inline constexpr bool is_sparse_v<sparse_elem<N, T> const> = true;
template <class T>
struct is_sparse : bool_constant<is_sparse_v<T>> {};

/// Size in bits of a logical element. N must divide the bits of T.
template <int N, class T>
struct sizeof_bits<sparse_elem<N, T>> : Int<sizeof_bits_v<T> / N> {
  static_assert(sizeof_bits_v<T> % N == 0, "sparse_elem<N, T>: N does not divide the bits of T");
};

/// In tensor memory an element may take less than a bit.
template <int N, class T>
inline constexpr int detail::tmem_shift<sparse_elem<N, T>> = 5 - log2_above(int(sizeof_bits_v<T>)) + log2_above(N);

/// Pointer that counts in logical elements, N per stored element.
template <int N, class It>
struct sparse_ptr {
  static_assert(is_sparse_v<iter_value_t<It>>, "sparse_ptr<N, It>: its elements must be sparse_elem<N, T>");
  static constexpr int sparsity = N;
  using iterator = It;
  using reference = iter_reference_t<It>;
  using element_type = iter_element_t<It>;
  using value_type = iter_value_t<It>;

  It ptr_ = {};

  ZELLIGE_HOST_DEVICE constexpr It get() const { return ptr_; }
  ZELLIGE_HOST_DEVICE constexpr reference operator*() const { return *ptr_; }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr reference operator[](I const& i) const {
    return *(ptr_ + i / Int<N>{});
  }
  /// Moves the pointer by i logical elements. i must be a multiple of N, since a remainder would be lost
  /// (checked at run time).
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr sparse_ptr operator+(I const& i) const {
#if ZELLIGE_CHECK
    if (static_cast<long long>(i) % N != 0)
      detail::broken(Algorithm::make_tensor,
                     "a sparse pointer is moved by {x} elements, which is not a multiple of its sparsity {y}",
                     static_cast<long long>(i), N);
#endif
    return {ptr_ + i / Int<N>{}};
  }
};
template <class T>
inline constexpr bool is_sparse_ptr_v = false;
template <int N, class It>
inline constexpr bool is_sparse_ptr_v<sparse_ptr<N, It>> = true;
template <memory_pointer P>
inline constexpr bool is_sparse_ptr_v<P> = is_sparse_ptr_v<typename P::iterator>;
template <class T>
struct is_sparse_ptr : bool_constant<is_sparse_ptr_v<T>> {};

/// Returns a sparse_ptr that starts at the iterator, or the iterator itself if N is 1.
template <int N, class It>
ZELLIGE_HOST_DEVICE constexpr auto make_sparse_ptr(It const& it) {
  if constexpr (N == 1)
    return it;
  else
    return sparse_ptr<N, It>{it};
}
/// Returns a plain pointer of element type U to the same address; it counts in elements U, not in logical
/// elements. U must not be a sparse_elem.
template <class U, int N, class It>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(sparse_ptr<N, It> const& p) {
  static_assert(!is_sparse_v<U>, "recast_ptr: from one sparse element to another has no one meaning");
  return recast_ptr<U>(p.ptr_);
}
template <int N, class It>
ZELLIGE_HOST_DEVICE constexpr auto raw_pointer_cast(sparse_ptr<N, It> const& p) {
  return raw_pointer_cast(p.ptr_);
}

}  // namespace zellige
