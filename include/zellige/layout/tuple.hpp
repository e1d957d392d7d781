// A tuple that costs nothing: empty elements (static integers, basis elements, static layouts) take no space.
#pragma once
#include <zellige/layout/integer.hpp>

namespace zellige {

namespace detail {
template <int I, class T, bool = __is_empty(T)>
struct tuple_leaf {
  ZELLIGE_HOST_DEVICE constexpr tuple_leaf() {}
  ZELLIGE_HOST_DEVICE constexpr tuple_leaf(T const&) {}
};
template <int I, class T>
struct tuple_leaf<I, T, false> {
  ZELLIGE_HOST_DEVICE constexpr tuple_leaf() : v{} {}
  ZELLIGE_HOST_DEVICE constexpr tuple_leaf(T const& t) : v(t) {}
  T v;
};

template <int I, class T>
ZELLIGE_HOST_DEVICE constexpr T leaf_get(tuple_leaf<I, T, true> const&) {
  return {};
}
template <int I, class T>
ZELLIGE_HOST_DEVICE constexpr T const& leaf_get(tuple_leaf<I, T, false> const& leaf) {
  return leaf.v;
}
template <int I, class T>
ZELLIGE_HOST_DEVICE constexpr T& leaf_get(tuple_leaf<I, T, false>& leaf) {
  return leaf.v;
}
template <int I, class T>
ZELLIGE_HOST_DEVICE constexpr T leaf_get(tuple_leaf<I, T, true>&) {
  return {};
}

template <class S, class... T>
struct tuple_base;
template <int... I, class... T>
struct tuple_base<seq<I...>, T...> : tuple_leaf<I, T>... {
  ZELLIGE_HOST_DEVICE constexpr tuple_base() {}
  ZELLIGE_HOST_DEVICE constexpr tuple_base(T const&... t) requires(sizeof...(T) > 0)
      : tuple_leaf<I, T>(t)... {}
};

template <int I, class T>
ZELLIGE_HOST_DEVICE T leaf_type(tuple_leaf<I, T, true> const&);
template <int I, class T>
ZELLIGE_HOST_DEVICE T leaf_type(tuple_leaf<I, T, false> const&);
}  // namespace detail

template <class... T>
struct tuple : detail::tuple_base<make_seq<int(sizeof...(T))>, T...> {
  using detail::tuple_base<make_seq<int(sizeof...(T))>, T...>::tuple_base;
  ZELLIGE_HOST_DEVICE constexpr tuple() {}
};
template <class... T>
tuple(T...) -> tuple<T...>;

template <class T>
inline constexpr bool is_tuple_v = false;
template <class... T>
inline constexpr bool is_tuple_v<tuple<T...>> = true;
template <class T>
inline constexpr bool is_tuple_v<T const> = is_tuple_v<T>;
template <class T>
struct is_tuple : bool_constant<is_tuple_v<remove_cvref_t<T>>> {};
template <class T>
concept tuple_like = is_tuple_v<remove_cvref_t<T>>;

template <class T>
inline constexpr int tuple_size_v = -1;
template <class... T>
inline constexpr int tuple_size_v<tuple<T...>> = sizeof...(T);
template <class T>
inline constexpr int tuple_size_v<T const> = tuple_size_v<T>;
template <class T>
struct tuple_size : Int<tuple_size_v<T>> {};

template <int I, class T>
struct tuple_element {
  using type = decltype(detail::leaf_type<I>(*static_cast<T const*>(nullptr)));
};
template <int I, class T>
using tuple_element_t = typename tuple_element<I, remove_cvref_t<T>>::type;

// Mistakes are calls of deleted functions: the compiler prints their names, which say what is wrong, and the
// numbers.
template <int mode, int rank>
ZELLIGE_HOST_DEVICE constexpr void mode_is_out_of_range() = delete;
template <int rank_of_the_coordinate, int rank_of_the_layout>
ZELLIGE_HOST_DEVICE constexpr void coordinate_and_layout_differ_in_rank() = delete;
template <int coordinates, int modes>
ZELLIGE_HOST_DEVICE constexpr void wrong_number_of_coordinates() = delete;

template <int I, class... T>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) get(tuple<T...> const& t) {
  if constexpr (0 <= I && I < int(sizeof...(T)))
    return detail::leaf_get<I>(t);
  else
    return mode_is_out_of_range<I, int(sizeof...(T))>(), Int<1>{};
}
template <int I, class... T>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) get(tuple<T...>& t) {
  if constexpr (0 <= I && I < int(sizeof...(T)))
    return detail::leaf_get<I>(t);
  else
    return mode_is_out_of_range<I, int(sizeof...(T))>(), Int<1>{};
}
template <int I, class... T>
ZELLIGE_HOST_DEVICE constexpr auto get(tuple<T...>&& t) {
  return get<I>(static_cast<tuple<T...> const&>(t));
}

template <class... T>
ZELLIGE_HOST_DEVICE constexpr tuple<T...> make_tuple(T const&... t) {
  return {t...};
}

namespace detail {
template <class A, class B, int... I, int... J>
ZELLIGE_HOST_DEVICE constexpr auto cat2(A const& a, B const& b, seq<I...>, seq<J...>) {
  return make_tuple(get<I>(a)..., get<J>(b)...);
}
}  // namespace detail
ZELLIGE_HOST_DEVICE constexpr tuple<> tuple_cat() { return {}; }
template <class A>
ZELLIGE_HOST_DEVICE constexpr A tuple_cat(A const& a) {
  return a;
}
template <class A, class B, class... R>
ZELLIGE_HOST_DEVICE constexpr auto tuple_cat(A const& a, B const& b, R const&... rest) {
  return tuple_cat(detail::cat2(a, b, make_seq<tuple_size_v<A>>{}, make_seq<tuple_size_v<B>>{}), rest...);
}

// CuTe's names for the same thing, by what it is used for.
template <class... T>
using Shape = tuple<T...>;
template <class... T>
using Stride = tuple<T...>;
template <class... T>
using Coord = tuple<T...>;
template <class... T>
using Step = tuple<T...>;
template <class... T>
using Tile = tuple<T...>;

template <class... T>
ZELLIGE_HOST_DEVICE constexpr Shape<T...> make_shape(T const&... t) {
  return {t...};
}
template <class... T>
ZELLIGE_HOST_DEVICE constexpr Stride<T...> make_stride(T const&... t) {
  return {t...};
}
template <class... T>
ZELLIGE_HOST_DEVICE constexpr Coord<T...> make_coord(T const&... t) {
  return {t...};
}
template <class... T>
ZELLIGE_HOST_DEVICE constexpr Step<T...> make_step(T const&... t) {
  return {t...};
}
template <class... T>
ZELLIGE_HOST_DEVICE constexpr Tile<T...> make_tile(T const&... t) {
  return {t...};
}

/// The marker that keeps a mode when a layout or tensor is sliced: layout(_, 3).
struct Underscore {};
using X = Underscore;
#if defined(__CUDA_ARCH__)
static const __device__ Underscore _{};
#else
inline constexpr Underscore _{};
#endif

template <class T>
inline constexpr bool is_underscore_v = is_same_v<remove_cvref_t<T>, Underscore>;
template <class T>
struct is_underscore : bool_constant<is_underscore_v<T>> {};

/// T holds a `_` at any depth.
template <class T>
inline constexpr bool has_underscore_v = is_underscore_v<T>;
template <class... T>
inline constexpr bool has_underscore_v<tuple<T...>> = (has_underscore_v<T> || ...);
template <class T>
inline constexpr bool has_underscore_v<T const> = has_underscore_v<T>;

}  // namespace zellige
