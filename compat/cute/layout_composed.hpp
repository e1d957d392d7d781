// CuTe's header for ComposedLayout. To CuTe's functions on tuples a composed layout is one element: select, prepend and
// append give tuples of layouts there; only append<N>(composed, x) adds modes. reverse takes every layout for one element.
#pragma once
#include <cute/config.hpp>
#include <zellige/layout.hpp>

namespace zellige {

/// Returns the tuple of the modes I of l, each as a composed layout.
template <int... I, class A, class O, class B>
CUTE_HOST_DEVICE constexpr auto select(ComposedLayout<A, O, B> const& l) {
  return make_tuple(get<I>(l)...);
}
/// Returns the layout l, of which there is one.
template <class S, class D>
CUTE_HOST_DEVICE constexpr Layout<S, D> reverse(Layout<S, D> const& l) {
  return l;
}
template <class A, class O, class B>
CUTE_HOST_DEVICE constexpr ComposedLayout<A, O, B> reverse(ComposedLayout<A, O, B> const& l) {
  return l;
}
/// Returns the tuple (t, x) or, for prepend, (x, t), where one of the layouts is composed, or x is no layout.
template <layout_like T, layout_like X>
requires(is_composed_layout_v<T> || is_composed_layout_v<X>) CUTE_HOST_DEVICE
    constexpr auto append(T const& t, X const& x) {
  return make_tuple(t, x);
}
template <layout_like T, class X>
requires(!layout_like<X>) CUTE_HOST_DEVICE constexpr auto append(T const& t, X const& x) { return make_tuple(t, x); }
template <layout_like T, layout_like X>
requires(is_composed_layout_v<T> || is_composed_layout_v<X>) CUTE_HOST_DEVICE
    constexpr auto prepend(T const& t, X const& x) {
  return make_tuple(x, t);
}
template <layout_like T, class X>
requires(!layout_like<X>) CUTE_HOST_DEVICE constexpr auto prepend(T const& t, X const& x) { return make_tuple(x, t); }
/// Returns the tuple of the uncomposed layout t and N - 1 copies of x, which is none, after it.
template <int N, class S, class D, class X>
requires(!is_layout_v<X>) CUTE_HOST_DEVICE constexpr auto append(Layout<S, D> const& t, X const& x) {
  return tuple_cat(make_tuple(t), tuple_repeat<N - 1>(x));
}
/// Returns the tuple of t and N - 1 copies of x before it, where one of the layouts is composed, or x is no layout.
template <int N, layout_like T, layout_like X>
requires(is_composed_layout_v<T> || is_composed_layout_v<X>) CUTE_HOST_DEVICE
    constexpr auto prepend(T const& t, X const& x) {
  return tuple_cat(tuple_repeat<N - 1>(x), make_tuple(t));
}
template <int N, layout_like T, class X>
requires(!layout_like<X>) CUTE_HOST_DEVICE constexpr auto prepend(T const& t, X const& x) {
  return tuple_cat(tuple_repeat<N - 1>(x), make_tuple(t));
}

}  // namespace zellige
