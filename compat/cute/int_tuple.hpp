// CuTe's header for integers and tuples of integers; adds names that Zellige's int_tuple does not have.
#pragma once
#include <cute/algorithm/tuple_algorithms.hpp>
#include <cute/container/array.hpp>
#include <cute/util/print.hpp>
#include <zellige/layout.hpp>

namespace zellige {

template <class T>
using rank_t = decltype(rank(declval<T const&>()));
template <class T>
using depth_t = decltype(depth(declval<T const&>()));
template <class T>
inline constexpr auto depth_v = depth_t<T>::value;

/// product as a function object, for transform.
struct Product {
  template <class T>
  CUTE_HOST_DEVICE constexpr auto operator()(T const& t) const {
    return product(t);
  }
};

// Comparisons derived from lex_less and colex_less: greater, less or equal, greater or equal.
template <class A, class B>
CUTE_HOST_DEVICE constexpr auto lex_gtr(A const& a, B const& b) {
  return lex_less(b, a);
}
template <class A, class B>
CUTE_HOST_DEVICE constexpr auto lex_leq(A const& a, B const& b) {
  return !lex_less(b, a);
}
template <class A, class B>
CUTE_HOST_DEVICE constexpr auto lex_geq(A const& a, B const& b) {
  return !lex_less(a, b);
}
template <class A, class B>
CUTE_HOST_DEVICE constexpr auto colex_gtr(A const& a, B const& b) {
  return colex_less(b, a);
}
template <class A, class B>
CUTE_HOST_DEVICE constexpr auto colex_leq(A const& a, B const& b) {
  return !colex_less(b, a);
}
template <class A, class B>
CUTE_HOST_DEVICE constexpr auto colex_geq(A const& a, B const& b) {
  return !colex_less(a, b);
}

/// Returns a tuple of the first n elements of an array, with `rest` in the remaining places:
/// make_int_tuple<3>(a, 2, 0) is (a[0], a[1], 0).
template <int N, class Indexable, class T>
CUTE_HOST_DEVICE constexpr auto make_int_tuple(Indexable const& a, int n, T const& rest) {
  static_assert(N > 0, "make_int_tuple<N>(a, n, rest): N is at least 1");
  if constexpr (N == 1)
    return 0 < n ? a[0] : rest;
  else
    return transform(make_seq<N>{}, [&](auto i) { return i < n ? a[i] : rest; });
}
namespace detail {
template <int I, class Tuple, class Values>
CUTE_HOST_DEVICE constexpr auto fill_numbers(Tuple& result, Values const& values) {
  if constexpr (I == tuple_size_v<Tuple>) {
    return values;
  } else {
    using R = remove_cvref_t<decltype(get<I>(result))>;
    if constexpr (is_tuple<R>::value) {
      return fill_numbers<I + 1>(result, fill_numbers<0>(get<I>(result), values));
    } else if constexpr (is_static_integer_v<R>) {
      return fill_numbers<I + 1>(result, values);
    } else {
      get<I>(result) = get<0>(values);
      return fill_numbers<I + 1>(result, remove<0>(values));
    }
  }
}
}  // namespace detail
/// Assigns the modes of `values`, in order, to the run-time numbers of `result`. Returns the values that are
/// left over.
template <class Tuple, class Values>
CUTE_HOST_DEVICE constexpr auto fill_int_tuple_from(Tuple& result, Values const& values) {
  return detail::fill_numbers<0>(result, values);
}
/// Returns a tuple of the given type whose run-time numbers have the given values, in order.
template <class Tuple, class... T>
CUTE_HOST_DEVICE constexpr Tuple make_int_tuple_from(T const&... t) {
  Tuple result{};
  fill_int_tuple_from(result, make_tuple(t...));
  return result;
}
/// Returns an array of all leaves, converted to T.
template <class T = int64_t, class Tuple>
CUTE_HOST_DEVICE constexpr auto to_array(Tuple const& t) {
  auto const flat = flatten_to_tuple(t);
  array<T, size_t(tuple_size<remove_cvref_t<decltype(flat)>>::value)> result{};
  for_each(make_seq<tuple_size<remove_cvref_t<decltype(flat)>>::value>{},
           [&](auto i) { result[i] = T(get<decltype(i)::value>(flat)); });
  return result;
}

}  // namespace zellige
