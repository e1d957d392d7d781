// Defines element access and reductions of IntTuples (get, product, sum, inner_product) and compares their nesting
// (congruent). An IntTuple is an integer or a tuple of IntTuples: a shape, a stride or a coordinate.
#pragma once
#include <zellige/layout/math.hpp>
#include <zellige/layout/overflow.hpp>
#include <zellige/layout/tuple_modes.hpp>

namespace zellige {

/// Returns a nested element: get<1, 0>(t) is get<0>(get<1>(t)).
template <int I, int J, int... R, class T>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) get(T&& t) {
  return get<J, R...>(get<I>(static_cast<T&&>(t)));
}

namespace detail {
template <int a, int... rest>
inline constexpr int max_of = a;
template <int a, int b, int... rest>
inline constexpr int max_of<a, b, rest...> = max_of<(a > b ? a : b), rest...>;
template <class T>
inline constexpr int depth_v = 0;
template <class... T>
inline constexpr int depth_v<tuple<T...>> = 1 + max_of<0, depth_v<T>...>;
template <class T>
inline constexpr int rank_v = is_tuple_v<T> ? tuple_size_v<T> : 1;

// Products of leaves that are all static, computed without a function per element. The value is `unknown` if
// a leaf is a run-time number.
inline constexpr long long unknown = -9223372036854775807LL - 1;
template <class T>
inline constexpr long long static_product = unknown;
template <auto v>
inline constexpr long long static_product<C<v>> = v;
template <auto... v>
inline constexpr long long static_product<tuple<C<v>...>> = (1LL * ... * static_cast<long long>(v));
template <class... T>
inline constexpr long long static_product<tuple<T...>> =
    ((static_product<T> != unknown) && ...) ? (1LL * ... * static_product<T>) : unknown;
/// True if a static number of the shape S is negative.
template <class S>
inline constexpr bool has_negative_v = false;
template <auto v>
inline constexpr bool has_negative_v<C<v>> = v < 0;
template <auto... v>
inline constexpr bool has_negative_v<tuple<C<v>...>> = ((v < 0) || ...);
template <class... S>
inline constexpr bool has_negative_v<tuple<S...>> = (has_negative_v<S> || ...);
ZELLIGE_HOST_DEVICE constexpr bool fits_int(long long v) { return v >= -2147483647 - 1 && v <= 2147483647; }

// Returns the product of those elements of t that the indices I list. A named function, because NVRTC treats
// generic lambdas as host functions.
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto product_of(T const& t, seq<I...>);
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto sum_of(T const& t, seq<I...>);
}  // namespace detail

/// Returns the product of all leaves of t, as a static number if all leaves are static; 1 for an empty tuple.
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto product(T const& t) {
  if constexpr (!tuple_like<T>)
    return t;
  else if constexpr (detail::fits_int(detail::static_product<T>))
    return C<int(detail::static_product<T>)>{};
  else if constexpr (detail::static_product<T> != detail::unknown)
    return C<detail::static_product<T>>{};
  else
    return detail::product_of(t, make_seq<tuple_size_v<T>>{});
}
/// Returns the sum of all leaves of t, as a static number if all leaves are static; 0 for an empty tuple.
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto sum(T const& t) {
  if constexpr (tuple_like<T>)
    return detail::sum_of(t, make_seq<tuple_size_v<T>>{});
  else
    return t;
}
namespace detail {
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto product_of(T const& t, seq<I...>) {
  using R = decltype((... * product(get<I>(t))));
  if constexpr (checked_arithmetic<R>)
    return checked_product<R>({static_cast<long long>(product(get<I>(t)))...});
  else
    return (... * product(get<I>(t)));
}
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto sum_of(T const& t, seq<I...>) {
  using R = decltype((Int<0>{} + ... + sum(get<I>(t))));
  if constexpr (checked_arithmetic<R>)
    return checked_sum<R>({static_cast<long long>(sum(get<I>(t)))...});
  else
    return (Int<0>{} + ... + sum(get<I>(t)));
}
}  // namespace detail

namespace detail {
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto product_each_of(T const& t, seq<I...>) {
  return make_tuple(product(get<I>(t))...);
}
template <class A, class B, int... I>
ZELLIGE_HOST_DEVICE constexpr auto inner_product_of(A const& a, B const& b, seq<I...>);
}  // namespace detail

/// Returns a tuple with the product of each top-level mode: (product(t0), product(t1), ...). A number t gives
/// the tuple (t).
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto product_each(T const& t) {
  if constexpr (tuple_like<T>)
    return detail::product_each_of(t, make_seq<tuple_size_v<T>>{});
  else
    return make_tuple(t);
}
/// Returns the sum of the products of corresponding leaves. The tuples must have the same profile.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto inner_product(A const& a, B const& b) {
  if constexpr (tuple_like<A> && tuple_like<B>) {
    static_assert(tuple_size_v<A> == tuple_size_v<B>, "inner_product: the tuples differ in rank");
    return detail::inner_product_of(a, b, make_seq<tuple_size_v<A>>{});
  } else if constexpr (detail::checked_factors<A, B>) {
    return detail::checked_product<decltype(a * b)>(static_cast<long long>(a), static_cast<long long>(b));
  } else {
    return a * b;
  }
}
namespace detail {
template <class A, class B, int... I>
ZELLIGE_HOST_DEVICE constexpr auto inner_product_of(A const& a, B const& b, seq<I...>) {
  using R = decltype((Int<0>{} + ... + inner_product(get<I>(a), get<I>(b))));
  if constexpr (checked_arithmetic<R>)
    return checked_sum<R>({static_cast<long long>(inner_product(get<I>(a), get<I>(b)))...});
  else
    return (Int<0>{} + ... + inner_product(get<I>(a), get<I>(b)));
}
}  // namespace detail

namespace detail {
template <class A, class B>
inline constexpr bool congruent_v = !is_tuple_v<A> && !is_tuple_v<B>;
template <auto... a, auto... b>
inline constexpr bool congruent_v<tuple<C<a>...>, tuple<C<b>...>> = sizeof...(a) == sizeof...(b);
template <class... A, class... B>
requires(sizeof...(A) ==
         sizeof...(B)) inline constexpr bool congruent_v<tuple<A...>, tuple<B...>> = (congruent_v<A, B> && ...);
template <class A, class B>
struct congruent_types : bool_constant<congruent_v<A, B>> {};
template <class A, class B>
struct weakly_congruent_types : bool_constant<!is_tuple_v<A>> {};
template <class... A, class... B>
requires(sizeof...(A) == sizeof...(B)) struct weakly_congruent_types<tuple<A...>, tuple<B...>>
    : bool_constant<(weakly_congruent_types<A, B>::value && ...)> {
};
}  // namespace detail

/// Returns the static true if a and b have the same profile (nesting of tuples), else the static false.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto congruent(A const&, B const&) {
  return C<detail::congruent_v<A, B>>{};
}
/// Returns the static true if the profile of b refines that of a, else the static false: the nesting must be
/// the same, except that b may have a tuple where a has a number.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto weakly_congruent(A const&, B const&) {
  return C<detail::weakly_congruent_types<A, B>::value>{};
}

/// True if T is an empty class: every leaf is a static number (or another type without state).
template <class T>
inline constexpr bool is_static_v = __is_empty(T);
template <class T>
struct is_static : bool_constant<is_static_v<remove_cvref_t<T>>> {};

}  // namespace zellige
