// Compares tuples and layouts element by element with == and !=. The result is static if static numbers decide it:
// if two corresponding static numbers differ, or if all numbers are static.
//
//   make_tuple(_1{}, n) == make_tuple(_2{}, n)    is  false_type       (_1 and _2 differ, whatever n is)
//   make_tuple(_1{}, n) == make_tuple(_1{}, 8)    is  a bool
#pragma once
#include <zellige/layout/basis.hpp>
#include <zellige/layout/composed.hpp>

namespace zellige {

ZELLIGE_HOST_DEVICE constexpr true_type operator==(Underscore, Underscore) { return {}; }
ZELLIGE_HOST_DEVICE constexpr false_type operator!=(Underscore, Underscore) { return {}; }

namespace detail {
template <class T>
concept element_of_tuples = is_own_tuple_v<T> || integral<T> || basis_like<T> || is_underscore_v<T>;
template <class T, class U>
concept unlike_in_tuples = element_of_tuples<T> && element_of_tuples<U> &&
    (is_own_tuple_v<T> != is_own_tuple_v<U> || is_underscore_v<T> != is_underscore_v<U> ||
     basis_like<T> != basis_like<U>);
template <class T, class U, int... I>
ZELLIGE_HOST_DEVICE constexpr auto equal_elements(T const& t, U const& u, seq<I...>) {
  return (true_type{} && ... && (get<I>(t) == get<I>(u)));
}
}  // namespace detail

template <class T, class U>
requires(is_own_tuple_v<T>&& is_own_tuple_v<U>) ZELLIGE_HOST_DEVICE constexpr auto operator==(T const& t, U const& u) {
  if constexpr (tuple_size_v<T> == tuple_size_v<U>)
    return detail::equal_elements(t, u, make_seq<tuple_size_v<T>>{});
  else
    return false_type{};
}
template <class T, class U>
requires(is_own_tuple_v<T>&& is_own_tuple_v<U>) ZELLIGE_HOST_DEVICE constexpr auto operator!=(T const& t, U const& u) {
  return !(t == u);
}
// A number, a tuple, a basis element and `_` are never equal to one another.
template <class T, class U>
requires detail::unlike_in_tuples<T, U> ZELLIGE_HOST_DEVICE constexpr false_type operator==(T const&, U const&) {
  return {};
}
template <class T, class U>
requires detail::unlike_in_tuples<T, U> ZELLIGE_HOST_DEVICE constexpr true_type operator!=(T const&, U const&) {
  return {};
}

/// True if shapes and strides are equal. Two different layouts that are the same function compare unequal.
template <class S, class D, class S2, class D2>
ZELLIGE_HOST_DEVICE constexpr auto operator==(Layout<S, D> const& a, Layout<S2, D2> const& b) {
  return a.shape() == b.shape() && a.stride() == b.stride();
}
template <class S, class D, class S2, class D2>
ZELLIGE_HOST_DEVICE constexpr auto operator!=(Layout<S, D> const& a, Layout<S2, D2> const& b) {
  return !(a == b);
}
template <class A, class O, class B, class A2, class O2, class B2>
ZELLIGE_HOST_DEVICE constexpr auto operator==(ComposedLayout<A, O, B> const& a, ComposedLayout<A2, O2, B2> const& b) {
  return a.layout_b() == b.layout_b() && a.layout_a() == b.layout_a() && a.offset() == b.offset();
}
template <class A, class O, class B, class A2, class O2, class B2>
ZELLIGE_HOST_DEVICE constexpr auto operator!=(ComposedLayout<A, O, B> const& a, ComposedLayout<A2, O2, B2> const& b) {
  return !(a == b);
}

}  // namespace zellige
