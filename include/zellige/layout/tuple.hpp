// Defines tuple, the class of shapes, strides, coordinates and tilers. Elements of empty types (static integers, basis
// elements, static layouts) take no space, so a tuple of static numbers is an empty class.
#pragma once
#include <zellige/layout/integer.hpp>

namespace zellige {

namespace detail {
// Storage of a tuple: only its non-empty elements, nested (first, rest), so that all members are in one class
// and the tuple has standard layout. Empty elements are created when they are read.
template <bool first_empty, bool rest_empty, class... T>
struct store;
template <class T, class... R>
inline constexpr bool first_is_empty = __is_empty(T);
template <class T, class... R>
inline constexpr bool rest_is_empty = (__is_empty(R) && ...);
template <class... T>
using store_of = store<first_is_empty<T...>, rest_is_empty<T...>, T...>;
template <class T, class... R>
struct store<false, true, T, R...> {
  ZELLIGE_STEP constexpr store() : first{} {}
  ZELLIGE_STEP constexpr store(T const& t, R const&...) : first(t) {}
  T first;
};
template <class T, class... R>
struct store<true, false, T, R...> {
  ZELLIGE_STEP constexpr store() : rest{} {}
  ZELLIGE_STEP constexpr store(T const&, R const&... r) : rest(r...) {}
  store_of<R...> rest;
};
template <class T, class... R>
struct store<false, false, T, R...> {
  ZELLIGE_STEP constexpr store() : first{}, rest{} {}
  ZELLIGE_STEP constexpr store(T const& t, R const&... r) : first(t), rest(r...) {}
  T first;
  store_of<R...> rest;
};
/// Returns a reference to element I, whose type must not be empty. The elements are stored as a chain of
/// structs: element I is the member `first` of the struct reached by following the member `rest` I times.
template <int I, class S>
ZELLIGE_STEP constexpr auto& stored(S& s) {
  if constexpr (I == 0)
    return s.first;
  else
    return stored<I - 1>(s.rest);
}

// Finds the type of element I by overload resolution: numbered_all has one base class numbered<I, T> per
// element.
template <int I, class T>
struct numbered {
  using type = T;
};
template <class S, class... T>
struct numbered_all;
template <int... I, class... T>
struct numbered_all<seq<I...>, T...> : numbered<I, T>... {};
template <int I, class T>
ZELLIGE_HOST_DEVICE numbered<I, T> find_numbered(numbered<I, T> const&);
template <class... T>
ZELLIGE_HOST_DEVICE numbered_all<make_seq<int(sizeof...(T))>, T...> const& numbered_elements(tuple<T...> const&);
}  // namespace detail

template <class... T>
struct tuple {
  ZELLIGE_STEP constexpr tuple() {}
  ZELLIGE_STEP constexpr tuple(T const&... t) : store_(t...) {}
  detail::store_of<T...> store_;
};
// Specialisation for tuples whose elements are all empty, the most frequent ones: an empty class.
template <class... T>
requires(__is_empty(T) && ...) struct tuple<T...> {
  constexpr tuple() = default;
  ZELLIGE_STEP constexpr tuple(T const&...) requires(sizeof...(T) > 0) {}
};
template <class... T>
tuple(T...) -> tuple<T...>;

/// Customisation point: makes a foreign type usable as a tuple. A specialisation defines `size`, `element<I>`
/// (a type) and `get<I>(t)`.
template <class T>
struct foreign_tuple {
  static constexpr int size = -1;
};

/// True for this library's tuples: tuple itself, and types for which this variable is specialised
/// (ArithmeticTuple, array).
template <class T>
inline constexpr bool is_own_tuple_v = false;
template <class... T>
inline constexpr bool is_own_tuple_v<tuple<T...>> = true;

template <class T>
inline constexpr bool is_tuple_v = is_own_tuple_v<T> || foreign_tuple<T>::size >= 0;
template <class T>
inline constexpr bool is_tuple_v<T const> = is_tuple_v<T>;
// Shortcuts for the most frequent types, which avoid an instantiation of foreign_tuple per type.
template <class... T>
inline constexpr bool is_tuple_v<tuple<T...>> = true;
template <auto v>
inline constexpr bool is_tuple_v<C<v>> = false;
template <>
inline constexpr bool is_tuple_v<int> = false;
template <class T>
struct is_tuple : bool_constant<is_tuple_v<remove_cvref_t<T>>> {};
template <class T>
concept tuple_like = is_tuple_v<remove_cvref_t<T>>;

template <class T>
inline constexpr int tuple_size_v = foreign_tuple<T>::size;
template <class... T>
inline constexpr int tuple_size_v<tuple<T...>> = sizeof...(T);
template <class T>
inline constexpr int tuple_size_v<T const> = tuple_size_v<T>;
template <class T>
struct tuple_size : C<size_t(tuple_size_v<T>)> {};

namespace detail {
template <class... T>
struct first;
template <class A, class... R>
struct first<A, R...> {
  using type = A;
};
}  // namespace detail
namespace detail {
template <int I, class T, bool foreign>
struct separate_element {
  using type = typename decltype(find_numbered<I>(numbered_elements(*static_cast<T const*>(nullptr))))::type;
};
template <int I, class T>
struct separate_element<I, T, true> {
  using type = typename foreign_tuple<T>::template element<I>;
};
}  // namespace detail
template <int I, class T>
struct tuple_element : detail::separate_element<I, T, (foreign_tuple<T>::size > I)> {};
template <int I, class... T>
struct tuple_element<I, tuple<T...>> : detail::separate_element<I, tuple<T...>, false> {};
// The first four elements are found without overload resolution, which saves compile time.
template <class A, class... R>
struct tuple_element<0, tuple<A, R...>> {
  using type = A;
};
template <class A, class B, class... R>
struct tuple_element<1, tuple<A, B, R...>> {
  using type = B;
};
template <class A, class B, class C, class... R>
struct tuple_element<2, tuple<A, B, C, R...>> {
  using type = C;
};
template <class A, class B, class C, class D, class... R>
struct tuple_element<3, tuple<A, B, C, D, R...>> {
  using type = D;
};
template <int I, class T>
using tuple_element_t = typename tuple_element<I, remove_cvref_t<T>>::type;

// These deleted functions report errors. Calling one is a compile error; the message shows the function's
// name, which states the error, and its template arguments, which are the numbers of the error.
template <int mode, int rank>
ZELLIGE_HOST_DEVICE constexpr void mode_is_out_of_range() = delete;
template <int rank_of_the_coordinate, int rank_of_the_layout>
ZELLIGE_HOST_DEVICE constexpr void coordinate_and_layout_differ_in_rank() = delete;
template <int coordinates, int modes>
ZELLIGE_HOST_DEVICE constexpr void wrong_number_of_coordinates() = delete;
template <int modes>
ZELLIGE_HOST_DEVICE constexpr void a_coordinate_is_neither_a_number_nor_a_tuple_of_numbers() = delete;
template <int coordinates>
ZELLIGE_HOST_DEVICE constexpr void the_shape_is_neither_a_number_nor_a_tuple_of_numbers() = delete;

template <int I, class T>
requires(foreign_tuple<remove_cvref_t<T>>::size > I && !is_own_tuple_v<remove_cvref_t<T>>) ZELLIGE_HOST_DEVICE
    constexpr decltype(auto) get(T&& t) {
  return foreign_tuple<remove_cvref_t<T>>::template get<I>(static_cast<T&&>(t));
}
/// Returns a reference to element I, or a new object if the element's type is empty. Compile error if the
/// tuple has no element I.
template <int I, class... T>
ZELLIGE_STEP constexpr decltype(auto) get(tuple<T...> const& t) {
  if constexpr (0 <= I && I < int(sizeof...(T))) {
    using Element = typename tuple_element<I, tuple<T...>>::type;
    if constexpr (__is_empty(Element))
      return Element{};
    else
      return static_cast<Element const&>(detail::stored<I>(t.store_));
  } else {
    return mode_is_out_of_range<I, int(sizeof...(T))>(), Int<1>{};
  }
}
template <int I, class... T>
ZELLIGE_STEP constexpr decltype(auto) get(tuple<T...>& t) {
  if constexpr (0 <= I && I < int(sizeof...(T))) {
    using Element = typename tuple_element<I, tuple<T...>>::type;
    if constexpr (__is_empty(Element))
      return Element{};
    else
      return static_cast<Element&>(detail::stored<I>(t.store_));
  } else {
    return mode_is_out_of_range<I, int(sizeof...(T))>(), Int<1>{};
  }
}
template <int I, class... T>
ZELLIGE_STEP constexpr decltype(auto) get(tuple<T...>&& t) {
  if constexpr (0 <= I && I < int(sizeof...(T))) {
    using Element = typename tuple_element<I, tuple<T...>>::type;
    if constexpr (__is_empty(Element))
      return Element{};
    else
      return static_cast<Element&&>(detail::stored<I>(t.store_));
  } else {
    return mode_is_out_of_range<I, int(sizeof...(T))>(), Int<1>{};
  }
}

/// Returns the number t: an integer counts as a tuple of one mode, so I must be 0.
template <int I, class T>
requires(!tuple_like<T> && !requires { T::layout_tag; }) ZELLIGE_HOST_DEVICE constexpr T get(T const& t) {
  static_assert(I == 0, "get<I>: a number has only mode 0");
  return t;
}
/// Returns a reference to the run-time number t, which may be written.
template <int I, dynamic_integer T>
ZELLIGE_HOST_DEVICE constexpr T& get(T& t) {
  static_assert(I == 0, "get<I>: a number has only mode 0");
  return t;
}

template <class... T>
ZELLIGE_STEP constexpr tuple<T...> make_tuple(T const&... t) {
  return {t...};
}

namespace detail {
// Returns the concatenation of tuples a and b; I and J are the indices of their elements.
template <class A, class B, int... I, int... J>
ZELLIGE_STEP constexpr auto cat2(A const& a, B const& b, seq<I...>, seq<J...>) {
  return make_tuple(get<I>(a)..., get<J>(b)...);
}
}  // namespace detail
ZELLIGE_STEP constexpr tuple<> tuple_cat() { return {}; }
template <class A>
ZELLIGE_STEP constexpr A tuple_cat(A const& a) {
  return a;
}
template <class A, class B, class... R>
ZELLIGE_STEP constexpr auto tuple_cat(A const& a, B const& b, R const&... rest) {
  return tuple_cat(detail::cat2(a, b, make_seq<tuple_size_v<A>>{}, make_seq<tuple_size_v<B>>{}), rest...);
}

template <class... T>
ZELLIGE_STEP constexpr Shape<T...> make_shape(T const&... t) {
  return {t...};
}
template <class... T>
ZELLIGE_STEP constexpr Stride<T...> make_stride(T const&... t) {
  return {t...};
}
template <class... T>
ZELLIGE_STEP constexpr Coord<T...> make_coord(T const&... t) {
  return {t...};
}
template <class... T>
ZELLIGE_STEP constexpr Step<T...> make_step(T const&... t) {
  return {t...};
}
template <class... T>
ZELLIGE_STEP constexpr Tile<T...> make_tile(T const&... t) {
  return {t...};
}

/// Type of `_`, the marker of a mode that a slice keeps: layout(_, 3) fixes the second mode at 3.
struct Underscore {};
using X = Underscore;
#if defined(__CUDA_ARCH__)
[[maybe_unused]] static const __device__ Underscore _{};
#else
inline constexpr Underscore _{};
#endif

template <class T>
inline constexpr bool is_underscore_v = is_same_v<remove_cvref_t<T>, Underscore>;
template <class T>
struct is_underscore : bool_constant<is_underscore_v<T>> {};

/// True if T is `_` or a tuple that contains `_` at any depth.
template <class T>
inline constexpr bool has_underscore_v = is_underscore_v<T>;
template <class... T>
inline constexpr bool has_underscore_v<tuple<T...>> = (has_underscore_v<T> || ...);
template <class T>
inline constexpr bool has_underscore_v<T const> = has_underscore_v<T>;

}  // namespace zellige
