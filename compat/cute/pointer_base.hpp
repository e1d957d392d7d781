// CuTe's header for iterators of tensors: iterator traits, and iter_adaptor for user-defined iterators.
#pragma once
#include <cute/layout.hpp>
#include <zellige/tensor/iterator.hpp>
#include <zellige/tensor/write.hpp>

namespace zellige {

namespace detail {
template <class T>
struct type_is {
  using type = T;
};
}  // namespace detail
template <class It>
using iter_reference = detail::type_is<iter_reference_t<It>>;
template <class It>
using iter_element = detail::type_is<iter_element_t<It>>;
template <class It>
using iter_value = detail::type_is<iter_value_t<It>>;

/// Base class of a user's iterator, in the curiously recurring form: class Mine : iter_adaptor<float*, Mine>.
template <class It, class Derived>
struct iter_adaptor {
  using iterator = It;
  using reference = iter_reference_t<It>;
  using element_type = iter_element_t<It>;
  using value_type = iter_value_t<It>;

  iterator ptr_;

  CUTE_HOST_DEVICE constexpr iter_adaptor(iterator p = {}) : ptr_(p) {}
  CUTE_HOST_DEVICE constexpr iterator get() const { return ptr_; }
  CUTE_HOST_DEVICE constexpr reference operator*() const { return *ptr_; }
  template <class I>
  CUTE_HOST_DEVICE constexpr reference operator[](I const& i) const {
    return ptr_[i];
  }
  template <class I>
  CUTE_HOST_DEVICE constexpr Derived operator+(I const& i) const {
    return {ptr_ + i};
  }
  CUTE_HOST_DEVICE friend constexpr bool operator==(Derived const& a, Derived const& b) { return a.ptr_ == b.ptr_; }
  CUTE_HOST_DEVICE friend constexpr bool operator!=(Derived const& a, Derived const& b) { return a.ptr_ != b.ptr_; }
  CUTE_HOST_DEVICE friend constexpr bool operator<(Derived const& a, Derived const& b) { return a.ptr_ < b.ptr_; }
  CUTE_HOST_DEVICE friend constexpr bool operator<=(Derived const& a, Derived const& b) { return a.ptr_ <= b.ptr_; }
  CUTE_HOST_DEVICE friend constexpr bool operator>(Derived const& a, Derived const& b) { return a.ptr_ > b.ptr_; }
  CUTE_HOST_DEVICE friend constexpr bool operator>=(Derived const& a, Derived const& b) { return a.ptr_ >= b.ptr_; }
};
template <class It, class Derived>
CUTE_HOST_DEVICE constexpr auto raw_pointer_cast(iter_adaptor<It, Derived> const& x) {
  return raw_pointer_cast(x.ptr_);
}
template <class It, class Derived>
CUTE_HOST_DEVICE constexpr auto max_alignment(iter_adaptor<It, Derived> const& x) {
  return max_alignment(x.ptr_);
}

}  // namespace zellige
