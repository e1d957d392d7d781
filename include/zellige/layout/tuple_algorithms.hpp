// Defines algorithms over the elements of tuples: transform, fold, find, for_each, scans. Elements may have any type:
// numbers, tensors, user-defined types.
//
//   transform(make_tuple(1, _2{}), plus_one)         is  (2, _3)
//   fold(make_tuple(2, 3, 4), _1{}, multiplies{})    is  24
//   apply(make_tuple(2, 3), f)                       is  f(2, 3)
//   find_if(t, pred)                                 is  the index of the first element for which pred returns true
//
// A value that is not a tuple is treated as a single element: transform(2, f) is f(2). The predicate of find_if must
// return a static number, because the result is static. All algorithms accept std::integer_sequence and other types for
// which `foreign_tuple` is specialised.
#pragma once
#include <zellige/layout/tuple.hpp>

namespace zellige {

/// The sequence seq<0, 1, ...> of the element indices of T.
template <class T>
using tuple_seq = make_seq<(tuple_size_v<remove_cvref_t<T>>)>;

// Makes every integer sequence, such as seq<I...>, a tuple of static numbers.
template <class T, T... v>
struct foreign_tuple<integer_sequence<T, v...>> {
  static constexpr int size = sizeof...(v);
  template <int N>
  using element = tuple_element_t<N, tuple<C<v>...>>;
  template <int N>
  ZELLIGE_HOST_DEVICE static constexpr element<N> get(integer_sequence<T, v...>) {
    return {};
  }
};

namespace detail {
// Returns get<I>(t). A function of its own, so that get is resolved once per element and tuple type.
template <int I, class T>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) element_of(T&& t) {
  return get<I>(static_cast<T&&>(t));
}
// True unless T is a tensor; tensors have their own for_each and transform.
template <class T>
concept no_tensor = !requires {
  remove_cvref_t<T>::tensor_tag;
};
struct to_tuple {
  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr tuple<T...> operator()(T const&... t) const {
    return {t...};
  }
};
struct to_concatenation {
  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const&... t) const {
    return tuple_cat(t...);
  }
};
ZELLIGE_CALLS_BACK
template <class T, class F, int... I>
ZELLIGE_HOST_DEVICE constexpr auto apply_to(T&& t, F&& f, seq<I...>) {
  return f(get<I>(static_cast<T&&>(t))...);
}
/// Returns g(f(t0), f(t1), ...), where t0, t1, ... are the elements of t with the indices I. The overloads
/// for two and three tuples call f(t0, u0), ... and f(t0, u0, v0), ...
ZELLIGE_CALLS_BACK
template <class T, class F, class G, int... I>
ZELLIGE_HOST_DEVICE constexpr auto map_to(T&& t, F&& f, G&& g, seq<I...>) {
  return g(f(get<I>(static_cast<T&&>(t)))...);
}
ZELLIGE_CALLS_BACK
template <class T, class U, class F, class G, int... I>
ZELLIGE_HOST_DEVICE constexpr auto map_to(T&& t, U&& u, F&& f, G&& g, seq<I...>) {
  return g(f(get<I>(static_cast<T&&>(t)), get<I>(static_cast<U&&>(u)))...);
}
ZELLIGE_CALLS_BACK
template <class T, class U, class V, class F, class G, int... I>
ZELLIGE_HOST_DEVICE constexpr auto map_to(T&& t, U&& u, V&& v, F&& f, G&& g, seq<I...>) {
  return g(f(get<I>(static_cast<T&&>(t)), get<I>(static_cast<U&&>(u)), get<I>(static_cast<V&&>(v)))...);
}
// Compile error unless all tuples have the same rank.
template <class T, class... U>
ZELLIGE_HOST_DEVICE constexpr void require_one_rank() {
  static_assert(((tuple_size_v<remove_cvref_t<T>> == tuple_size_v<remove_cvref_t<U>>)&&...),
                "the tuples differ in rank");
}
}  // namespace detail

/// Returns f(t0, t1, ...), where t0, t1, ... are the elements of t.
ZELLIGE_CALLS_BACK
template <class T, class F>
ZELLIGE_HOST_DEVICE constexpr auto apply(T&& t, F&& f) {
  return detail::apply_to(static_cast<T&&>(t), f, tuple_seq<T>{});
}

/// Returns g(f(t0), f(t1), ...), where t0, t1, ... are the elements of t. The overloads for two and three
/// tuples call f(t0, u0), ... for the number of elements of the first tuple.
ZELLIGE_CALLS_BACK
template <class T, class F, class G>
ZELLIGE_HOST_DEVICE constexpr auto transform_apply(T&& t, F&& f, G&& g) {
  if constexpr (tuple_like<T>)
    return detail::map_to(static_cast<T&&>(t), f, g, tuple_seq<T>{});
  else
    return g(f(static_cast<T&&>(t)));
}
ZELLIGE_CALLS_BACK
template <class T, class U, class F, class G>
ZELLIGE_HOST_DEVICE constexpr auto transform_apply(T&& t, U&& u, F&& f, G&& g) {
  if constexpr (tuple_like<T>) {
    return detail::map_to(static_cast<T&&>(t), static_cast<U&&>(u), f, g, tuple_seq<T>{});
  } else {
    return g(f(static_cast<T&&>(t), static_cast<U&&>(u)));
  }
}
ZELLIGE_CALLS_BACK
template <class T, class U, class V, class F, class G>
ZELLIGE_HOST_DEVICE constexpr auto transform_apply(T&& t, U&& u, V&& v, F&& f, G&& g) {
  if constexpr (tuple_like<T>) {
    return detail::map_to(static_cast<T&&>(t), static_cast<U&&>(u), static_cast<V&&>(v), f, g, tuple_seq<T>{});
  } else {
    return g(f(static_cast<T&&>(t), static_cast<U&&>(u), static_cast<V&&>(v)));
  }
}

/// Returns the tuple (f(t0), f(t1), ...). The overloads for two and three tuples, which must have the same
/// rank, call f(t0, u0), ...
ZELLIGE_CALLS_BACK
template <detail::no_tensor T, class F>
ZELLIGE_HOST_DEVICE constexpr auto transform(T const& t, F&& f) {
  if constexpr (tuple_like<T>)
    return detail::map_to(t, f, detail::to_tuple{}, tuple_seq<T>{});
  else
    return f(t);
}
ZELLIGE_CALLS_BACK
template <detail::no_tensor T, detail::no_tensor U, class F>
ZELLIGE_HOST_DEVICE constexpr auto transform(T const& t, U const& u, F&& f) {
  if constexpr (tuple_like<T>) {
    detail::require_one_rank<T, U>();
    return detail::map_to(t, u, f, detail::to_tuple{}, tuple_seq<T>{});
  } else {
    return f(t, u);
  }
}
ZELLIGE_CALLS_BACK
template <detail::no_tensor T, detail::no_tensor U, detail::no_tensor V, class F>
ZELLIGE_HOST_DEVICE constexpr auto transform(T const& t, U const& u, V const& v, F&& f) {
  if constexpr (tuple_like<T>) {
    detail::require_one_rank<T, U, V>();
    return detail::map_to(t, u, v, f, detail::to_tuple{}, tuple_seq<T>{});
  } else {
    return f(t, u, v);
  }
}
namespace detail {
template <class F>
struct leafwise {
  F& f;
  ZELLIGE_CALLS_BACK
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const& t) const {
    if constexpr (tuple_like<T>)
      return transform(t, *this);
    else
      return f(t);
  }
  ZELLIGE_CALLS_BACK
  template <class T, class U>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const& t, U const& u) const {
    if constexpr (tuple_like<T>)
      return transform(t, u, *this);
    else
      return f(t, u);
  }
};
}  // namespace detail
/// Returns a tuple of the same nesting as t, with f(leaf) in place of each leaf.
ZELLIGE_CALLS_BACK
template <class T, class F>
ZELLIGE_HOST_DEVICE constexpr auto transform_leaf(T const& t, F&& f) {
  return detail::leafwise<F>{f}(t);
}
ZELLIGE_CALLS_BACK
template <class T, class U, class F>
ZELLIGE_HOST_DEVICE constexpr auto transform_leaf(T const& t, U const& u, F&& f) {
  return detail::leafwise<F>{f}(t, u);
}

namespace detail {
ZELLIGE_CALLS_BACK
template <class T, class F, int... I>
ZELLIGE_HOST_DEVICE constexpr void for_each_of(T&& t, F&& f, seq<I...>) {
  (void(f(element_of<I>(static_cast<T&&>(t)))), ...);
}
ZELLIGE_CALLS_BACK
template <class T, class U, class F, int... I>
ZELLIGE_HOST_DEVICE constexpr void for_each_of(T&& t, U&& u, F&& f, seq<I...>) {
  (void(f(element_of<I>(static_cast<T&&>(t)), element_of<I>(static_cast<U&&>(u)))), ...);
}
template <class F>
struct for_each_leafwise {
  F& f;
  ZELLIGE_CALLS_BACK
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr void operator()(T&& t) const {
    if constexpr (tuple_like<T>)
      for_each_of(static_cast<T&&>(t), *this, tuple_seq<T>{});
    else
      f(static_cast<T&&>(t));
  }
};
}  // namespace detail
/// Calls f(t0), f(t1), ... in order, where t0, t1, ... are the elements of t. f may modify the elements of a
/// mutable tuple.
ZELLIGE_CALLS_BACK
template <detail::no_tensor T, class F>
ZELLIGE_HOST_DEVICE constexpr void for_each(T&& t, F&& f) {
  if constexpr (tuple_like<T>)
    detail::for_each_of(static_cast<T&&>(t), f, tuple_seq<T>{});
  else
    f(static_cast<T&&>(t));
}
/// Calls f(t0, u0), f(t1, u1), ... in order, for the elements of two tuples of the same rank.
ZELLIGE_CALLS_BACK
template <detail::no_tensor T, detail::no_tensor U, class F>
ZELLIGE_HOST_DEVICE constexpr void for_each(T&& t, U&& u, F&& f) {
  if constexpr (tuple_like<T>) {
    detail::require_one_rank<T, U>();
    detail::for_each_of(static_cast<T&&>(t), static_cast<U&&>(u), f, tuple_seq<T>{});
  } else {
    f(static_cast<T&&>(t), static_cast<U&&>(u));
  }
}
/// Calls f(leaf) for every leaf of t, in order.
ZELLIGE_CALLS_BACK
template <class T, class F>
ZELLIGE_HOST_DEVICE constexpr void for_each_leaf(T&& t, F&& f) {
  detail::for_each_leafwise<F>{f}(static_cast<T&&>(t));
}

namespace detail {
// Returns the static index of the first element, from element I on, for which pred is true; the rank of t if
// there is none.
ZELLIGE_CALLS_BACK
template <int I, class T, class P>
ZELLIGE_HOST_DEVICE constexpr auto find_from(T const& t, P&& pred) {
  if constexpr (I == tuple_size_v<T>)
    return Int<I>{};
  else if constexpr (bool(decltype(pred(get<I>(t)))::value))
    return Int<I>{};
  else
    return find_from<I + 1>(t, pred);
}
template <class X>
struct is_equal_to {
  X const& x;
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const& t) const {
    return t == x;
  }
};
struct disjunction_of {
  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const&... t) const {
    return (false_type{} || ... || t);
  }
};
struct conjunction_of {
  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(T const&... t) const {
    return (true_type{} && ... && t);
  }
};
template <class X, int I, class... T>
ZELLIGE_ALGEBRA consteval int first_of_type() {
  bool const found[] = {is_same_v<X, T>..., true};
  int i = 0;
  while (!found[i]) ++i;
  return i;
}
template <class X, class... T>
ZELLIGE_HOST_DEVICE constexpr auto find_type(tuple<T...> const&) {
  return Int<first_of_type<X, 0, T...>()>{};
}
}  // namespace detail
/// Returns the static index of the first element of t for which pred is true; the rank of t if there is none.
/// pred must return a static number.
ZELLIGE_CALLS_BACK
template <class T, class P>
ZELLIGE_HOST_DEVICE constexpr auto find_if(T const& t, P&& pred) {
  if constexpr (tuple_like<T>)
    return detail::find_from<0>(t, pred);
  else
    return Int<(bool(decltype(pred(t))::value) ? 0 : 1)>{};
}
/// Returns the static index of the first element of t that is equal to x; the rank of t if there is none. The
/// comparisons must be static.
template <class T, class X>
ZELLIGE_HOST_DEVICE constexpr auto find(T const& t, X const& x) {
  return find_if(t, detail::is_equal_to<X>{x});
}
/// find<X>(t): returns the static index of the first element of t that has type X; the rank of t if there is
/// none.
template <class X, class... T>
ZELLIGE_HOST_DEVICE constexpr auto find(tuple<T...> const& t) {
  return detail::find_type<X>(t);
}
/// Returns true if pred is true for at least one element of t.
ZELLIGE_CALLS_BACK
template <class T, class P>
ZELLIGE_HOST_DEVICE constexpr auto any_of(T const& t, P&& pred) {
  return transform_apply(t, pred, detail::disjunction_of{});
}
/// Returns true if pred is true for all elements of t.
ZELLIGE_CALLS_BACK
template <class T, class P>
ZELLIGE_HOST_DEVICE constexpr auto all_of(T const& t, P&& pred) {
  return transform_apply(t, pred, detail::conjunction_of{});
}
/// Returns true if pred is true for no element of t.
ZELLIGE_CALLS_BACK
template <class T, class P>
ZELLIGE_HOST_DEVICE constexpr auto none_of(T const& t, P&& pred) {
  return !any_of(t, pred);
}

/// Returns the concatenation of the tuples f(t0), f(t1), ...
ZELLIGE_CALLS_BACK
template <class T, class F>
ZELLIGE_HOST_DEVICE constexpr auto filter_tuple(T const& t, F&& f) {
  return transform_apply(t, f, detail::to_concatenation{});
}
ZELLIGE_CALLS_BACK
template <class T, class U, class F>
ZELLIGE_HOST_DEVICE constexpr auto filter_tuple(T const& t, U const& u, F&& f) {
  return transform_apply(t, u, f, detail::to_concatenation{});
}
ZELLIGE_CALLS_BACK
template <class T, class U, class V, class F>
ZELLIGE_HOST_DEVICE constexpr auto filter_tuple(T const& t, U const& u, V const& v, F&& f) {
  return transform_apply(t, u, v, f, detail::to_concatenation{});
}

namespace detail {
ZELLIGE_CALLS_BACK
template <class T, class A, class F>
ZELLIGE_HOST_DEVICE constexpr auto fold_from(T const&, A const& a, F&&, seq<>) {
  return a;
}
ZELLIGE_CALLS_BACK
template <class T, class A, class F, int I, int... R>
ZELLIGE_HOST_DEVICE constexpr auto fold_from(T const& t, A const& a, F&& f, seq<I, R...>) {
  return fold_from(t, f(a, get<I>(t)), f, seq<R...>{});
}
}  // namespace detail
/// Returns f(...f(f(a, t0), t1)..., tn) for a tuple t of elements t0 ... tn. For a value t that is not a
/// tuple, returns f(a, t).
ZELLIGE_CALLS_BACK
template <class T, class A, class F>
ZELLIGE_HOST_DEVICE constexpr auto fold(T const& t, A const& a, F&& f) {
  if constexpr (tuple_like<T>)
    return detail::fold_from(t, a, f, tuple_seq<T>{});
  else
    return f(a, t);
}
/// Returns f(...f(f(t0, t1), t2)..., tn) for a tuple t of elements t0 ... tn.
ZELLIGE_CALLS_BACK
template <class T, class F>
ZELLIGE_HOST_DEVICE constexpr auto fold_first(T const& t, F&& f) {
  if constexpr (tuple_like<T>)
    return detail::fold_from(t, get<0>(t), f, make_range<1, tuple_size_v<T>>{});
  else
    return t;
}

namespace detail {
ZELLIGE_CALLS_BACK
template <bool inclusive, class T, class A, class F, class Done>
ZELLIGE_HOST_DEVICE constexpr auto scan(T const&, A const&, F&&, Done const& done, seq<>) {
  return done;
}
ZELLIGE_CALLS_BACK
template <bool inclusive, class T, class A, class F, class Done, int I, int... R>
ZELLIGE_HOST_DEVICE constexpr auto scan(T const& t, A const& a, F&& f, Done const& done, seq<I, R...>) {
  if constexpr (!inclusive && sizeof...(R) == 0) {
    return tuple_cat(done, make_tuple(a));
  } else {
    auto const next = f(a, get<I>(t));
    if constexpr (inclusive)
      return scan<inclusive>(t, next, f, tuple_cat(done, make_tuple(next)), seq<R...>{});
    else
      return scan<inclusive>(t, next, f, tuple_cat(done, make_tuple(a)), seq<R...>{});
  }
}
}  // namespace detail
/// Returns the inclusive scan of t, (f(a, t0), f(f(a, t0), t1), ...).
ZELLIGE_CALLS_BACK
template <class T, class A, class F>
ZELLIGE_HOST_DEVICE constexpr auto iscan(T const& t, A const& a, F&& f) {
  return detail::scan<true>(t, a, f, tuple<>{}, tuple_seq<T>{});
}
/// Returns the exclusive scan of t, (a, f(a, t0), ...), of the rank of t.
ZELLIGE_CALLS_BACK
template <class T, class A, class F>
ZELLIGE_HOST_DEVICE constexpr auto escan(T const& t, A const& a, F&& f) {
  return detail::scan<false>(t, a, f, tuple<>{}, tuple_seq<T>{});
}

}  // namespace zellige
