// CuTe's header for Layout and the layout algebra.
#pragma once
#include <cute/layout_composed.hpp>
#include <cute/numeric/arithmetic_tuple.hpp>
#include <cute/numeric/integral_ratio.hpp>
#include <cute/numeric/numeric_types.hpp>
#include <cute/stride.hpp>
#include <cute/swizzle.hpp>
#include <cute/underscore.hpp>
#include <zellige/layout.hpp>
#if !defined(__CUDACC_RTC__)
#include <zellige/layout/print.hpp>
#endif

namespace zellige {

template <class L>
using cosize_t = decltype(cosize(declval<L const&>()));
template <class L>
struct is_composed_layout : bool_constant<is_composed_layout_v<L>> {};

namespace detail {
template <class T, class F, int... I>
CUTE_HOST_DEVICE constexpr auto layout_of_each(T const& t, F const& f, seq<I...>) {
  return make_layout(f(get<I>(t))...);
}
template <class T, class U, class F, int... I, int... J, int... K>
CUTE_HOST_DEVICE constexpr auto layout_of_each(T const& t, U const& u, F const& f, seq<I...>, seq<J...>, seq<K...>) {
  constexpr int n = sizeof...(I);
  return make_layout(f(get<I>(t), get<I>(u))..., get<n + J>(t)..., get<n + K>(u)...);
}
}  // namespace detail
/// Returns the layout whose mode i is f(mode i of t) or, with two layouts, f(mode i of t, mode i of u). Modes
/// that only one layout has are unchanged.
template <class T, class F>
CUTE_HOST_DEVICE constexpr auto transform_layout(T const& t, F&& f) {
  return detail::layout_of_each(t, f, make_seq<decltype(rank(t))::value>{});
}
template <class T, class U, class F>
CUTE_HOST_DEVICE constexpr auto transform_layout(T const& t, U const& u, F&& f) {
  constexpr int m = decltype(rank(t))::value, n = decltype(rank(u))::value, both = m < n ? m : n;
  return detail::layout_of_each(t, u, f, make_seq<both>{}, make_seq<m - both>{}, make_seq<n - both>{});
}
/// Groups the modes of a divided layout: ((within the tiles), (over the tiles)).
template <class S, class D, class Tiler>
CUTE_HOST_DEVICE constexpr auto tile_unzip(Layout<S, D> const& layout, Tiler const& tiler) {
  return make_layout(zip2_by(layout.shape(), tiler), zip2_by(layout.stride(), tiler));
}

}  // namespace zellige
