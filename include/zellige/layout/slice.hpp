// Slices coordinates, shapes and strides by a coordinate: slice keeps the modes for which the coordinate has `_`, dice
// keeps the modes for which it has a number.
//
//   slice(make_coord(_, 2), make_shape(3, 4))  is  (3)      dice(make_coord(_, 2), make_shape(3, 4))  is  (4)
#pragma once
#include <zellige/layout/int_tuple.hpp>

namespace zellige {

namespace detail {
// The ranks of the coordinate and of the layout where they first differ, that is, where the coordinate has a
// tuple and the layout another number of modes. The numbers are equal if the ranks differ nowhere.
template <class Crd, class T>
struct misfit {
  static constexpr int crd = is_tuple_v<Crd> ? tuple_size_v<Crd> : 0;
  static constexpr int layout = is_tuple_v<Crd> ? (is_tuple_v<T> ? tuple_size_v<T> : 1) : 0;
};
template <class First, class... Rest>
struct first_misfit : First {};
template <class First, class Second, class... Rest>
requires(First::crd == First::layout) struct first_misfit<First, Second, Rest...> : first_misfit<Second, Rest...> {
};
template <class... C, class... T>
requires(sizeof...(C) == sizeof...(T) && sizeof...(C) > 0) struct misfit<tuple<C...>, tuple<T...>>
    : first_misfit<misfit<C, T>...> {
};

template <bool keep_marked, class Crd, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto select_each(Crd const& crd, T const& t, seq<I...>);

// True if a coordinate has no nested tuple, as most have. The kept modes are then found without recursion.
template <class Crd>
inline constexpr bool is_flat_v = false;
template <class... C>
inline constexpr bool is_flat_v<tuple<C...>> = (!is_tuple_v<C> && ...);
/// Number of modes of a flat coordinate that are `_` (if `marked`) or are not (if not `marked`).
template <bool marked, class Crd>
inline constexpr int marked_count = 0;
template <bool marked, class... C>
inline constexpr int marked_count<marked, tuple<C...>> = (0 + ... + int(is_underscore_v<C> == marked));
/// Returns the position, from 0, of the n-th true (n from 0) in the list `is`; -1 if there are fewer.
template <bool... is>
ZELLIGE_HOST_DEVICE consteval int nth_true(int n) {
  int at = 0, found = -1;
  ((found = is && n-- == 0 ? at : found, ++at),
   ...);  // always assigned: nvcc warns of expressions without effect
  return found;
}
template <bool marked, class... C, class T, int... I>
ZELLIGE_STEP constexpr auto select_flat(tuple<C...> const&, T const& t, seq<I...>) {
  if constexpr (__is_empty(T))
    return tuple<tuple_element_t<nth_true<(is_underscore_v<C> == marked)...>(I), T>...>{};
  else
    return make_tuple(get<nth_true<(is_underscore_v<C> == marked)...>(I)>(t)...);
}

/// Returns, as a flat tuple, those modes of t for which crd has a `_` (if keep_marked) or a number (if not).
template <bool keep_marked, class Crd, class T>
ZELLIGE_HOST_DEVICE constexpr auto select_marked(Crd const& crd, T const& t) {
  if constexpr (tuple_like<Crd>) {
    static_assert(tuple_like<T>, "slice: the coordinate is a tuple where the layout has a single mode");
    static_assert(tuple_size_v<Crd> == tuple_size_v<T>, "slice: coordinate and layout differ in rank");
    if constexpr (is_flat_v<Crd>)
      return select_flat<keep_marked>(crd, t, make_seq<marked_count<keep_marked, Crd>>{});
    else
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

/// Returns, as a flat tuple, those modes of the tuple t for which crd has a `_`; returns t itself if crd is
/// `_`.
template <class Crd, class T>
requires(!requires { T::layout_tag; }) ZELLIGE_HOST_DEVICE constexpr auto slice(Crd const& crd, T const& t) {
  if constexpr (is_underscore_v<Crd>)
    return t;
  else
    return detail::select_marked<true>(crd, t);
}
/// Returns, as a flat tuple, those modes of the tuple t for which crd has a number; returns t itself if crd
/// is a number.
template <class Crd, class T>
requires(!requires { T::layout_tag; }) ZELLIGE_HOST_DEVICE constexpr auto dice(Crd const& crd, T const& t) {
  if constexpr (is_underscore_v<Crd>)
    return tuple<>{};
  else if constexpr (!tuple_like<Crd>)
    return t;
  else
    return detail::select_marked<false>(crd, t);
}

}  // namespace zellige
