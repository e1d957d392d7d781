// Defines iterators for tensors whose elements are not in memory: integers, coordinates, and elements transformed on
// access.
//
//   counting_iterator<int>(42)            iterates over 42, 43, 44, ...
//   make_inttuple_iter(42, _2{}, _7{})    points to the coordinate (42, 2, 7); + (0, 5, 2) moves it to (42, 7, 9)
//   make_transform_iter(it, f)            iterates over f(it[0]), f(it[1]), ...
#pragma once
#include <zellige/layout/basis.hpp>

namespace zellige {

namespace detail {
template <class T>
struct remove_reference {
  using type = T;
};
template <class T>
struct remove_reference<T&> {
  using type = T;
};
template <class T>
struct remove_reference<T&&> {
  using type = T;
};
/// Declares a function that returns an lvalue of type T, for unevaluated expressions; it has no definition.
template <class T>
ZELLIGE_HOST_DEVICE T& lvalue();

template <class It>
struct iterator_reference {
  using type = decltype(*lvalue<It>());
};
template <class It>
requires requires { typename It::reference; }
struct iterator_reference<It> {
  using type = typename It::reference;
};
template <class It>
struct iterator_element {
  using type = typename remove_reference<typename iterator_reference<It>::type>::type;
};
template <class It>
requires requires { typename It::element_type; }
struct iterator_element<It> {
  using type = typename It::element_type;
};
}  // namespace detail

/// Types of an iterator: `reference` is the type of *it, `element_type` the type that it refers to,
/// `value_type` that type without const.
template <class It>
struct iterator_traits {
  using reference = typename detail::iterator_reference<It>::type;
  using element_type = typename detail::iterator_element<It>::type;
  using value_type = remove_cvref_t<element_type>;
};
template <class T>
struct iterator_traits<T*> {
  using reference = T&;
  using element_type = T;
  using value_type = remove_cvref_t<T>;
};
template <class It>
using iter_reference_t = typename iterator_traits<It>::reference;
template <class It>
using iter_element_t = typename iterator_traits<It>::element_type;
template <class It>
using iter_value_t = typename iterator_traits<It>::value_type;

/// True for types with unary *: iterators on which a tensor can be based.
template <class It>
concept dereferenceable = requires(It it) {
  *it;
};
template <class It>
struct has_dereference : bool_constant<dereferenceable<It>> {};

/// Iterator over n, n + 1, n + 2, ...
template <class T = int>
struct counting_iterator {
  using index_type = T;
  using value_type = T;
  using element_type = T;
  using reference = T;

  T n_ = {};

  ZELLIGE_HOST_DEVICE constexpr counting_iterator(T const& from = {}) : n_(from) {}
  ZELLIGE_HOST_DEVICE constexpr T operator*() const { return n_; }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr T operator[](I const& i) const {
    return n_ + T(i);
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr counting_iterator operator+(I const& i) const {
    return {T(n_ + T(i))};
  }
  ZELLIGE_HOST_DEVICE constexpr counting_iterator& operator++() { return ++n_, *this; }
  ZELLIGE_HOST_DEVICE constexpr counting_iterator operator++(int) {
    counting_iterator const before = *this;
    return ++n_, before;
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator==(counting_iterator const& a, counting_iterator const& b) {
    return a.n_ == b.n_;
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator<(counting_iterator const& a, counting_iterator const& b) {
    return a.n_ < b.n_;
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator>(counting_iterator const& a, counting_iterator const& b) {
    return b < a;
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator<=(counting_iterator const& a, counting_iterator const& b) {
    return !(b < a);
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator>=(counting_iterator const& a, counting_iterator const& b) {
    return !(a < b);
  }
};
template <class T>
counting_iterator(T) -> counting_iterator<T>;
template <class T>
ZELLIGE_HOST_DEVICE constexpr T raw_pointer_cast(counting_iterator<T> const& it) {
  return it.n_;
}

/// Iterator over coordinates: dereferencing gives its position, adding a coordinate moves it.
template <class T>
struct ArithmeticTupleIterator : private tuple<T> {
  using value_type = T;
  using element_type = T;
  using reference = T;
  static constexpr bool coordinate_tag = true;

  ZELLIGE_HOST_DEVICE constexpr ArithmeticTupleIterator(T const& at = {}) : tuple<T>(at) {}
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator*() const { return get<0>(static_cast<tuple<T> const&>(*this)); }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto operator[](I const& i) const {
    return **this + i;
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto operator+(I const& i) const {
    auto const at = **this + i;
    return ArithmeticTupleIterator<remove_cvref_t<decltype(at)>>(at);
  }
};
template <class T>
ArithmeticTupleIterator(T) -> ArithmeticTupleIterator<T>;

/// Returns an iterator over coordinates that starts at the coordinate t. The coordinate can also be passed as
/// several numbers.
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto make_inttuple_iter(T const& t) {
  auto const at = as_arithmetic_tuple(t);
  return ArithmeticTupleIterator<remove_cvref_t<decltype(at)>>(at);
}
template <class A, class B, class... T>
ZELLIGE_HOST_DEVICE constexpr auto make_inttuple_iter(A const& a, B const& b, T const&... t) {
  return make_inttuple_iter(make_tuple(a, b, t...));
}

/// Iterator that returns f(*iter) when dereferenced.
template <class It, class F>
struct transform_iter {
  It iter;
  F f;
  ZELLIGE_HOST_DEVICE constexpr auto operator*() const { return f(*iter); }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto operator[](I const& i) const {
    return f(iter[i]);
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto operator+(I const& i) const {
    return transform_iter<remove_cvref_t<decltype(iter + i)>, F>{iter + i, f};
  }
};
template <class It, class F>
ZELLIGE_HOST_DEVICE constexpr transform_iter<It, F> make_transform_iter(It const& it, F const& f) {
  return {it, f};
}

}  // namespace zellige
