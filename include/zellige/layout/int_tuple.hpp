// IntTuples: a number, or a tuple of IntTuples. Queries and the small algorithms that layouts are built from.
#pragma once
#include <zellige/layout/math.hpp>
#include <zellige/layout/tuple.hpp>

namespace zellige {

template <int I, class T>
requires(!tuple_like<T> && !requires { T::layout_tag; }) ZELLIGE_HOST_DEVICE constexpr T get(T const& t) {
  static_assert(I == 0, "get<I>: a number has only mode 0");
  return t;
}
/// get<1, 0>(t) is get<0>(get<1>(t)).
template <int I, int J, int... R, class T>
ZELLIGE_HOST_DEVICE constexpr auto get(T const& t) {
  return get<J, R...>(get<I>(t));
}

template <class F, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto apply(T const& t, F&& f, seq<I...>) {
  return f(get<I>(t)...);
}
/// f(t0, t1, ...).
template <class F, class T>
ZELLIGE_HOST_DEVICE constexpr auto apply(T const& t, F&& f) {
  return apply(t, static_cast<F&&>(f), make_seq<tuple_size_v<T>>{});
}

namespace detail {
template <class F, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto map(T const& t, F&& f, seq<I...>) {
  return make_tuple(f(get<I>(t))...);
}
template <class F, class T, class U, int... I>
ZELLIGE_HOST_DEVICE constexpr auto map(T const& t, U const& u, F&& f, seq<I...>) {
  return make_tuple(f(get<I>(t), get<I>(u))...);
}
template <class F, class T, class U, class V, int... I>
ZELLIGE_HOST_DEVICE constexpr auto map(T const& t, U const& u, V const& v, F&& f, seq<I...>) {
  return make_tuple(f(get<I>(t), get<I>(u), get<I>(v))...);
}
template <class F, class T, class A>
ZELLIGE_HOST_DEVICE constexpr auto fold_from(T const&, A const& a, F&&, seq<>) {
  return a;
}
template <class F, class T, class A, int I, int... R>
ZELLIGE_HOST_DEVICE constexpr auto fold_from(T const& t, A const& a, F&& f, seq<I, R...>) {
  return fold_from(t, f(a, get<I>(t)), f, seq<R...>{});
}
}  // namespace detail

/// (f(t0), f(t1), ...); a number is mapped itself.
template <class F, class T>
ZELLIGE_HOST_DEVICE constexpr auto transform(T const& t, F&& f) {
  if constexpr (tuple_like<T>)
    return detail::map(t, f, make_seq<tuple_size_v<T>>{});
  else
    return f(t);
}
template <class F, class T, class U>
ZELLIGE_HOST_DEVICE constexpr auto transform(T const& t, U const& u, F&& f) {
  if constexpr (tuple_like<T>) {
    static_assert(tuple_size_v<T> == tuple_size_v<U>, "transform: the tuples differ in rank");
    return detail::map(t, u, f, make_seq<tuple_size_v<T>>{});
  } else {
    return f(t, u);
  }
}
template <class F, class T, class U, class V>
ZELLIGE_HOST_DEVICE constexpr auto transform(T const& t, U const& u, V const& v, F&& f) {
  if constexpr (tuple_like<T>)
    return detail::map(t, u, v, f, make_seq<tuple_size_v<T>>{});
  else
    return f(t, u, v);
}
namespace detail {
template <class F>
struct leafwise {
  F& f;
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const& t) const {
    if constexpr (tuple_like<T>)
      return transform(t, *this);
    else
      return f(t);
  }
  template <class T, class U>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const& t, U const& u) const {
    if constexpr (tuple_like<T>)
      return transform(t, u, *this);
    else
      return f(t, u);
  }
};
}  // namespace detail
template <class F, class T>
ZELLIGE_HOST_DEVICE constexpr auto transform_leaf(T const& t, F&& f) {
  return detail::leafwise<F>{f}(t);
}
template <class F, class T, class U>
ZELLIGE_HOST_DEVICE constexpr auto transform_leaf(T const& t, U const& u, F&& f) {
  return detail::leafwise<F>{f}(t, u);
}

/// f(...f(f(a, t0), t1)..., tn); of a number, f(a, t).
template <class F, class T, class A>
ZELLIGE_HOST_DEVICE constexpr auto fold(T const& t, A const& a, F&& f) {
  if constexpr (tuple_like<T>)
    return detail::fold_from(t, a, f, make_seq<tuple_size_v<T>>{});
  else
    return f(a, t);
}
template <class F, class T>
ZELLIGE_HOST_DEVICE constexpr auto fold_first(T const& t, F&& f) {
  if constexpr (tuple_like<T>)
    return detail::fold_from(t, get<0>(t), f, make_range<1, tuple_size_v<T>>{});
  else
    return t;
}

template <class F, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr void for_each(T const& t, F&& f, seq<I...>) {
  (f(get<I>(t)), ...);
}
template <class F, class T>
requires tuple_like<T> ZELLIGE_HOST_DEVICE constexpr void for_each(T const& t, F&& f) {
  for_each(t, f, make_seq<tuple_size_v<T>>{});
}
template <class F, class T>
ZELLIGE_HOST_DEVICE constexpr void for_each_leaf(T const& t, F&& f);
namespace detail {
template <class F, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr void for_each_leaf_of(T const& t, F&& f, seq<I...>) {
  (for_each_leaf(get<I>(t), f), ...);
}
}  // namespace detail
template <class F, class T>
ZELLIGE_HOST_DEVICE constexpr void for_each_leaf(T const& t, F&& f) {
  if constexpr (tuple_like<T>)
    detail::for_each_leaf_of(t, f, make_seq<tuple_size_v<T>>{});
  else
    f(t);
}

// Searches: the first mode of which pred holds (rank when of none), and whether it holds of any, all, none.
namespace detail {
template <int I, class T, class P>
ZELLIGE_HOST_DEVICE constexpr auto find_from(T const& t, P&& pred) {
  if constexpr (I == tuple_size_v<T>)
    return Int<I>{};
  else if constexpr (decltype(pred(get<I>(t)))::value)
    return Int<I>{};
  else
    return find_from<I + 1>(t, pred);
}
template <class T, class P, int... I>
ZELLIGE_HOST_DEVICE constexpr auto any_of(T const& t, P&& pred, seq<I...>) {
  return (false_type{} || ... || pred(get<I>(t)));
}
template <class T, class P, int... I>
ZELLIGE_HOST_DEVICE constexpr auto all_of(T const& t, P&& pred, seq<I...>) {
  return (true_type{} && ... && pred(get<I>(t)));
}
}  // namespace detail
template <tuple_like T, class P>
ZELLIGE_HOST_DEVICE constexpr auto find_if(T const& t, P&& pred) {
  return detail::find_from<0>(t, pred);
}
template <tuple_like T, class P>
ZELLIGE_HOST_DEVICE constexpr auto any_of(T const& t, P&& pred) {
  return detail::any_of(t, pred, make_seq<tuple_size_v<T>>{});
}
template <tuple_like T, class P>
ZELLIGE_HOST_DEVICE constexpr auto all_of(T const& t, P&& pred) {
  return detail::all_of(t, pred, make_seq<tuple_size_v<T>>{});
}
template <tuple_like T, class P>
ZELLIGE_HOST_DEVICE constexpr auto none_of(T const& t, P&& pred) {
  return !any_of(t, pred);
}

/// The concatenation of the tuples f(t0), f(t1), ...
template <class F, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto filter_tuple(T const& t, F&& f, seq<I...>) {
  return tuple_cat(f(get<I>(t))...);
}
template <class F, class T>
ZELLIGE_HOST_DEVICE constexpr auto filter_tuple(T const& t, F&& f) {
  return filter_tuple(t, f, make_seq<tuple_size_v<T>>{});
}
namespace detail {
template <int a, int... rest>
inline constexpr int most = a;
template <int a, int b, int... rest>
inline constexpr int most<a, b, rest...> = most<(a > b ? a : b), rest...>;
template <class T>
inline constexpr int depth_v = 0;
template <class... T>
inline constexpr int depth_v<tuple<T...>> = 1 + most<0, depth_v<T>...>;
template <class T>
inline constexpr int rank_v = is_tuple_v<T> ? tuple_size_v<T> : 1;

// The product of static leaves, without a function for every element.
template <class T>
inline constexpr long long static_product = 1;
template <auto v>
inline constexpr long long static_product<C<v>> = v;
template <class... T>
inline constexpr long long static_product<tuple<T...>> = (1LL * ... * static_product<T>);
template <class T>
inline constexpr bool all_numbers = is_constant_v<T>;
template <class... T>
inline constexpr bool all_numbers<tuple<T...>> = (all_numbers<T> && ...);
template <long long v>
using fitting = conditional_t<(v >= -2147483647 - 1 && v <= 2147483647), C<int(v)>, C<v>>;

// Generic lambdas would read better below; NVRTC takes them for host functions.
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto product_of(T const& t, seq<I...>);
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto sum_of(T const& t, seq<I...>);
}  // namespace detail

template <class T>
ZELLIGE_HOST_DEVICE constexpr auto product(T const& t) {
  if constexpr (!tuple_like<T>)
    return t;
  else if constexpr (detail::all_numbers<T>)
    return detail::fitting<detail::static_product<T>>{};
  else
    return detail::product_of(t, make_seq<tuple_size_v<T>>{});
}
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
  return (... * product(get<I>(t)));
}
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto sum_of(T const& t, seq<I...>) {
  return (Int<0>{} + ... + sum(get<I>(t)));
}
}  // namespace detail

template <class T>
ZELLIGE_HOST_DEVICE constexpr auto wrap(T const& t) {
  if constexpr (tuple_like<T>)
    return t;
  else
    return make_tuple(t);
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto unwrap(T const& t) {
  if constexpr (tuple_like<T>) {
    if constexpr (tuple_size_v<T> == 1)
      return unwrap(get<0>(t));
    else
      return t;
  } else {
    return t;
  }
}

namespace detail {
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto product_each_of(T const& t, seq<I...>) {
  return make_tuple(product(get<I>(t))...);
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto leaves(T const& t) {
  if constexpr (tuple_like<T>)
    return leaves(t, make_seq<tuple_size_v<T>>{});
  else
    return make_tuple(t);
}
template <class T, int... I>
ZELLIGE_HOST_DEVICE constexpr auto leaves(T const& t, seq<I...>) {
  return tuple_cat(leaves(get<I>(t))...);
}
template <class T, class U, int... I>
ZELLIGE_HOST_DEVICE constexpr auto repeat_over(T const& t, U const& x, seq<I...>);
template <class A, class B, int... I>
ZELLIGE_HOST_DEVICE constexpr auto inner_product_of(A const& a, B const& b, seq<I...>);
}  // namespace detail

/// (product(t0), product(t1), ...).
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto product_each(T const& t) {
  if constexpr (tuple_like<T>)
    return detail::product_each_of(t, make_seq<tuple_size_v<T>>{});
  else
    return make_tuple(t);
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto flatten_to_tuple(T const& t) {
  return detail::leaves(t);
}

/// The profile of t with x at every leaf.
template <class T, class U>
ZELLIGE_HOST_DEVICE constexpr auto repeat_like(T const& t, U const& x) {
  if constexpr (tuple_like<T>)
    return detail::repeat_over(t, x, make_seq<tuple_size_v<T>>{});
  else
    return x;
}
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto inner_product(A const& a, B const& b) {
  if constexpr (tuple_like<A> && tuple_like<B>) {
    static_assert(tuple_size_v<A> == tuple_size_v<B>, "inner_product: the tuples differ in rank");
    return detail::inner_product_of(a, b, make_seq<tuple_size_v<A>>{});
  } else {
    return a * b;
  }
}
namespace detail {
template <class T, class U, int... I>
ZELLIGE_HOST_DEVICE constexpr auto repeat_over(T const& t, U const& x, seq<I...>) {
  return make_tuple(repeat_like(get<I>(t), x)...);
}
template <class A, class B, int... I>
ZELLIGE_HOST_DEVICE constexpr auto inner_product_of(A const& a, B const& b, seq<I...>) {
  return (Int<0>{} + ... + inner_product(get<I>(a), get<I>(b)));
}
}  // namespace detail

namespace detail {
template <class A, class B>
struct congruent_types : bool_constant<!is_tuple_v<A> && !is_tuple_v<B>> {};
template <class... A, class... B>
requires(sizeof...(A) == sizeof...(B)) struct congruent_types<tuple<A...>, tuple<B...>>
    : bool_constant<(congruent_types<A, B>::value && ...)> {
};
template <class A, class B>
struct weakly_congruent_types : bool_constant<!is_tuple_v<A>> {};
template <class... A, class... B>
requires(sizeof...(A) == sizeof...(B)) struct weakly_congruent_types<tuple<A...>, tuple<B...>>
    : bool_constant<(weakly_congruent_types<A, B>::value && ...)> {
};
}  // namespace detail

/// The two have the same profile.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto congruent(A const&, B const&) {
  return C<detail::congruent_types<A, B>::value>{};
}
/// The profile of b refines that of a.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto weakly_congruent(A const&, B const&) {
  return C<detail::weakly_congruent_types<A, B>::value>{};
}

/// Every leaf of T is a static number (or a type without state).
template <class T>
inline constexpr bool is_static_v = __is_empty(T);
template <class T>
struct is_static : bool_constant<is_static_v<remove_cvref_t<T>>> {};

}  // namespace zellige
