// Edits of the modes of tuples and layouts, and arithmetic on whole tuples.
//
//   group<0, 2>(make_layout(make_shape(_2{}, _3{}, _4{})))  is  ((_2,_3),_4):((_1,_2),_6)
//   append<3>(make_shape(_2{}), _1{})                       is  (_2,_1,_1)
#pragma once
#include <zellige/layout/algebra.hpp>
#include <zellige/layout/functional.hpp>

namespace zellige {

template <layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto flatten(T const& t) {
  return invoke<Op::flatten>(t);
}
template <layout_like T, int_tuple P>
ZELLIGE_HOST_DEVICE constexpr auto unflatten(T const& t, P const& profile) {
  return invoke<Op::unflatten>(t, profile);
}
template <layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto append(T const& t, X const& x) {
  return invoke<Op::append>(t, x);
}
template <layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto append(T const& t) {
  return append(t, Layout<Int<1>, Int<0>>{});
}
template <int N, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto append(T const& t) {
  return invoke<Op::append_to>(t, Int<N>{});
}
template <int N, layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto append(T const& t, X const& x) {
  return invoke<Op::append_to>(t, Int<N>{}, x);
}
template <layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto prepend(T const& t, X const& x) {
  return invoke<Op::prepend>(t, x);
}
template <layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto prepend(T const& t) {
  return prepend(t, Layout<Int<1>, Int<0>>{});
}
template <int N, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto prepend(T const& t) {
  return invoke<Op::prepend_to>(t, Int<N>{});
}
template <int N, layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto prepend(T const& t, X const& x) {
  return invoke<Op::prepend_to>(t, Int<N>{}, x);
}
template <int B, int N, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto take(T const& t) {
  return invoke<Op::take>(t, Int<B>{}, Int<N>{});
}
template <int B, int N, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto group(T const& t) {
  return invoke<Op::group>(t, Int<B>{}, Int<N>{});
}
template <int... I, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto select(T const& t) {
  return invoke<Op::select>(t, Int<I>{}...);
}
template <int N, layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto replace(T const& t, X const& x) {
  return invoke<Op::replace>(t, Int<N>{}, x);
}
template <int N, layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto insert(T const& t, X const& x) {
  return invoke<Op::insert>(t, Int<N>{}, x);
}
template <int N, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto remove(T const& t) {
  return invoke<Op::remove>(t, Int<N>{});
}
template <layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto reverse(T const& t) {
  return invoke<Op::reverse>(t);
}
template <layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto zip(T const& t) {
  return invoke<Op::zip1>(t);
}
template <layout_like T, layout_like U>
ZELLIGE_HOST_DEVICE constexpr auto zip(T const& t, U const& u) {
  return invoke<Op::zip2>(t, u);
}

// Arithmetic.
template <class A, class B>
requires(int_tuple<A> && (int_tuple<B> || layout_like<B>)) ZELLIGE_HOST_DEVICE
    constexpr auto ceil_div(A const& a, B const& b) {
  return invoke<Op::ceil_div>(a, b);
}
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto round_up(A const& a, B const& b) {
  return invoke<Op::round_up>(a, b);
}
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto shape_div(A const& a, B const& b) {
  return invoke<Op::shape_div>(a, b);
}
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto elem_scale(A const& a, B const& b) {
  return invoke<Op::elem_scale>(a, b);
}
template <class A, class B>
requires(basis_like<A> || integral<A>) ZELLIGE_HOST_DEVICE constexpr auto safe_div(A const& a, B const& b) {
  return invoke<Op::safe_div>(a, b);
}
template <int_tuple A, int_tuple G>
ZELLIGE_HOST_DEVICE constexpr auto product_like(A const& a, G const& guide) {
  return invoke<Op::product_like>(a, guide);
}
template <class A>
requires(tuple_like<A> || integral<A>) ZELLIGE_HOST_DEVICE constexpr auto gcd(A const& a) {
  return invoke<Op::gcd>(a);
}
template <class A>
requires(tuple_like<A> || integral<A>) ZELLIGE_HOST_DEVICE constexpr auto max(A const& a) {
  return invoke<Op::max>(a);
}
template <class A>
requires(tuple_like<A> || integral<A>) ZELLIGE_HOST_DEVICE constexpr auto min(A const& a) {
  return invoke<Op::min>(a);
}

/// For three or more numbers, each static or not.
template <integral A, integral B, integral C, integral... More>
ZELLIGE_HOST_DEVICE constexpr auto gcd(A const& a, B const& b, C const& c, More const&... more) {
  return gcd(gcd(a, b), c, more...);
}
template <integral A, integral B, integral C, integral... More>
ZELLIGE_HOST_DEVICE constexpr auto max(A const& a, B const& b, C const& c, More const&... more) {
  return max(max(a, b), c, more...);
}
template <integral A, integral B, integral C, integral... More>
ZELLIGE_HOST_DEVICE constexpr auto min(A const& a, B const& b, C const& c, More const&... more) {
  return min(min(a, b), c, more...);
}

// Predicates and orders; static where the numbers are.
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto compatible(A const& a, B const& b) {
  return invoke<Op::compatible>(a, b);
}
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto lex_less(A const& a, B const& b) {
  return invoke<Op::lex_less>(a, b);
}
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto colex_less(A const& a, B const& b) {
  return invoke<Op::colex_less>(a, b);
}
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto elem_less(A const& a, B const& b) {
  return invoke<Op::elem_less>(a, b);
}
/// Not elem_less(b, a), as in CuTe.
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto elem_leq(A const& a, B const& b) {
  return invoke<Op::elem_leq>(a, b);
}
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto elem_gtr(A const& a, B const& b) {
  return elem_less(b, a);
}
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto elem_geq(A const& a, B const& b) {
  return elem_leq(b, a);
}

}  // namespace zellige
