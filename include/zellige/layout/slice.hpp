// slice keeps the modes that a coordinate marks with `_`, dice the others:
//
//   slice(make_coord(_, 2), make_shape(3, 4))  is  (3)      dice(make_coord(_, 2), make_shape(3, 4))  is  (4)
#pragma once
#include <zellige/layout/int_tuple.hpp>

namespace zellige {

namespace detail {
// The coordinate's tuples stand where the layout has as many modes.
template <class Crd, class T>
inline constexpr bool fits = !is_tuple_v<Crd>;
template <class... C, class... T> requires(sizeof...(C) == sizeof...(T))
inline constexpr bool fits<tuple<C...>, tuple<T...>> = (fits<C, T> && ...);

template <bool keep_marked, class Crd, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto select_each(Crd const& crd, T const& t, seq<I...>);

template <bool keep_marked, class Crd, class T>
ZELLIGE_HOST_DEVICE constexpr auto select_marked(Crd const& crd, T const& t) {
  if constexpr (tuple_like<Crd>) {
    static_assert(tuple_like<T>, "slice: the coordinate is a tuple where the layout has a single mode");
    static_assert(tuple_size_v<Crd> == tuple_size_v<T>, "slice: coordinate and layout differ in rank");
    return select_each<keep_marked>(crd, t, make_seq<tuple_size_v<Crd>>{});
  } else if constexpr (is_underscore_v<Crd> == keep_marked) {
    return make_tuple(t);
  } else {
    return tuple<>{};
  }
}
template <bool keep_marked, class Crd, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto select_each(Crd const& crd, T const& t, seq<I...>) {
  return tuple_cat(select_marked<keep_marked>(get<I>(crd), get<I>(t))...);
}
}  // namespace detail

template <class Crd, class T> requires(!requires { T::layout_tag; })
ZELLIGE_HOST_DEVICE constexpr auto slice(Crd const& crd, T const& t) {
  if constexpr (is_underscore_v<Crd>) return t;
  else return detail::select_marked<true>(crd, t);
}
template <class Crd, class T> requires(!requires { T::layout_tag; })
ZELLIGE_HOST_DEVICE constexpr auto dice(Crd const& crd, T const& t) {
  if constexpr (is_underscore_v<Crd>) return tuple<>{};
  else if constexpr (!tuple_like<Crd>) return t;
  else return detail::select_marked<false>(crd, t);
}

}  // namespace zellige
