// Edits the list of modes of layouts (append, take, group, select ...), and computes with integer tuples mode by mode:
// division that rounds up, comparisons.
//
//   group<0, 2>(make_layout(make_shape(_2{}, _3{}, _4{})))  is  ((_2,_3),_4):((_1,_2),_6)
//   append<3>(make_shape(_2{}), _1{})                       is  (_2,_1,_1)
#pragma once
#include <zellige/layout/algebra.hpp>
#include <zellige/layout/functional.hpp>

namespace zellige {

/// Returns the flat layout whose modes are the leaves of t.
template <layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto flatten(T const& t) {
  return invoke<Op::flatten>(t);
}
/// Returns the layout with the modes of the flat layout t in the nesting of `profile`.
template <layout_like T, int_tuple P>
ZELLIGE_HOST_DEVICE constexpr auto unflatten(T const& t, P const& profile) {
  return invoke<Op::unflatten>(t, profile);
}
/// Returns t with x as a new last mode. The overload without x appends a mode _1:_0.
template <layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto append(T const& t, X const& x) {
  return invoke<Op::append>(t, x);
}
template <layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto append(T const& t) {
  return append(t, Layout<Int<1>, Int<0>>{});
}
/// Returns t with modes added at its end until it has N modes: modes _1:_0 or, in the overload with x, copies
/// of x.
template <int N, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto append(T const& t) {
  return invoke<Op::append_to>(t, Int<N>{});
}
template <int N, layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto append(T const& t, X const& x) {
  return invoke<Op::append_to>(t, Int<N>{}, x);
}
/// Returns t with x as a new first mode. The overload without x adds a mode _1:_0.
template <layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto prepend(T const& t, X const& x) {
  return invoke<Op::prepend>(t, x);
}
template <layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto prepend(T const& t) {
  return prepend(t, Layout<Int<1>, Int<0>>{});
}
/// Returns t with modes added before its first mode until it has N modes: modes _1:_0 or, in the overload
/// with x, copies of x.
template <int N, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto prepend(T const& t) {
  return invoke<Op::prepend_to>(t, Int<N>{});
}
template <int N, layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto prepend(T const& t, X const& x) {
  return invoke<Op::prepend_to>(t, Int<N>{}, x);
}
/// Returns modes B to N - 1 of t; N = -1 means the rank.
template <int B, int N, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto take(T const& t) {
  return invoke<Op::take>(t, Int<B>{}, Int<N>{});
}
/// Returns t with modes B to N - 1 grouped into one mode.
template <int B, int N, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto group(T const& t) {
  return invoke<Op::group>(t, Int<B>{}, Int<N>{});
}
/// Returns the modes of t that the indices I list, in the order of the list.
template <int... I, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto select(T const& t) {
  return invoke<Op::select>(t, Int<I>{}...);
}
/// Returns t with mode N replaced by x.
template <int N, layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto replace(T const& t, X const& x) {
  return invoke<Op::replace>(t, Int<N>{}, x);
}
/// Returns t with x inserted before mode N.
template <int N, layout_like T, layout_like X>
ZELLIGE_HOST_DEVICE constexpr auto insert(T const& t, X const& x) {
  return invoke<Op::insert>(t, Int<N>{}, x);
}
/// Returns t without mode N.
template <int N, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto remove(T const& t) {
  return invoke<Op::remove>(t, Int<N>{});
}
template <layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto reverse(T const& t) {
  return invoke<Op::reverse>(t);
}
/// Returns t with its two levels of modes transposed: ((a, b), (c, d)) becomes ((a, c), (b, d)).
template <layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto zip(T const& t) {
  return invoke<Op::zip1>(t);
}
/// Returns the layout whose mode i is (t[i], u[i]), for two layouts of equal rank.
template <layout_like T, layout_like U>
ZELLIGE_HOST_DEVICE constexpr auto zip(T const& t, U const& u) {
  return invoke<Op::zip2>(t, u);
}

// Returns a / b, rounded up; a may be a layout or a tensor, whose shape is divided by the layout b. A tuple is divided by a tuple
// mode by mode. A tuple is divided by a number from
// its first mode on, until no factor of the number remains: (4, 6) / 8 is (1, 3). If b is a layout, returns
// the shape of the complement of b below the size of a.
template <class A, class B>
requires(int_tuple<A> && (int_tuple<B> || layout_like<B>)) ZELLIGE_HOST_DEVICE
    constexpr auto ceil_div(A const& a, B const& b) {
  return invoke<Op::ceil_div>(a, b);
}
template <class A, layout_like B>
requires requires(A const& a) { a.shape(); }
ZELLIGE_HOST_DEVICE constexpr auto ceil_div(A const& a, B const& b) { return ceil_div(a.shape(), b); }
/// Returns a, rounded up to a multiple of b mode by mode.
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto round_up(A const& a, B const& b) {
  return invoke<Op::round_up>(a, b);
}
/// Returns a / b mode by mode, and 1 in modes in which a divides b. Refused if in some mode neither divides
/// the other.
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto shape_div(A const& a, B const& b) {
  return invoke<Op::shape_div>(a, b);
}
/// Returns a * b mode by mode. Where a has a number and b a tuple, the number is multiplied by the tuple's
/// product.
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto elem_scale(A const& a, B const& b) {
  return invoke<Op::elem_scale>(a, b);
}
/// Returns a / b. Refused if a and b are static and b does not divide a.
template <class A, class B>
requires(basis_like<A> || integral<A>) ZELLIGE_HOST_DEVICE constexpr auto safe_div(A const& a, B const& b) {
  return invoke<Op::safe_div>(a, b);
}
/// Returns the guide with each leaf replaced by the product of the corresponding mode of a: product_like(((2,
/// 3), 4), (x, x)) is (6, 4).
template <int_tuple A, int_tuple G>
ZELLIGE_HOST_DEVICE constexpr auto product_like(A const& a, G const& guide) {
  return invoke<Op::product_like>(a, guide);
}
/// Returns the greatest common divisor of all leaves of a.
template <class A>
requires(tuple_like<A> || integral<A>) ZELLIGE_HOST_DEVICE constexpr auto gcd(A const& a) { return invoke<Op::gcd>(a); }
/// Returns the largest leaf of a.
template <class A>
requires(tuple_like<A> || integral<A>) ZELLIGE_HOST_DEVICE constexpr auto max(A const& a) { return invoke<Op::max>(a); }
/// Returns the smallest leaf of a.
template <class A>
requires(tuple_like<A> || integral<A>) ZELLIGE_HOST_DEVICE constexpr auto min(A const& a) { return invoke<Op::min>(a); }

// Of several arguments, tuples among them: the number of all their leaves.
template <int_tuple A, int_tuple B, int_tuple... More>
requires(tuple_like<A> || tuple_like<B> || (tuple_like<More> || ...)) ZELLIGE_HOST_DEVICE
    constexpr auto gcd(A const& a, B const& b, More const&... more) {
  return gcd(gcd(a), gcd(b), gcd(more)...);
}
template <int_tuple A, int_tuple B, int_tuple... More>
requires(tuple_like<A> || tuple_like<B> || (tuple_like<More> || ...)) ZELLIGE_HOST_DEVICE
    constexpr auto max(A const& a, B const& b, More const&... more) {
  return max(max(a), max(b), max(more)...);
}
template <int_tuple A, int_tuple B, int_tuple... More>
requires(tuple_like<A> || tuple_like<B> || (tuple_like<More> || ...)) ZELLIGE_HOST_DEVICE
    constexpr auto min(A const& a, B const& b, More const&... more) {
  return min(min(a), min(b), min(more)...);
}

/// Returns the greatest common divisor of three or more integers.
template <integral A, integral B, integral C, integral... More>
ZELLIGE_HOST_DEVICE constexpr auto gcd(A const& a, B const& b, C const& c, More const&... more) {
  return gcd(gcd(a, b), c, more...);
}
/// Returns the largest of three or more integers.
template <integral A, integral B, integral C, integral... More>
ZELLIGE_HOST_DEVICE constexpr auto max(A const& a, B const& b, C const& c, More const&... more) {
  return max(max(a, b), c, more...);
}
/// Returns the smallest of three or more integers.
template <integral A, integral B, integral C, integral... More>
ZELLIGE_HOST_DEVICE constexpr auto min(A const& a, B const& b, C const& c, More const&... more) {
  return min(min(a, b), c, more...);
}

// Returns true if every coordinate of shape a is a coordinate of shape b. The results of this and the
// following comparisons are static if the numbers are static.
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto compatible(A const& a, B const& b) {
  return invoke<Op::compatible>(a, b);
}
/// Returns true if a is less than b in lexicographic order, with the first mode most significant.
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto lex_less(A const& a, B const& b) {
  return invoke<Op::lex_less>(a, b);
}
/// Returns true if a is less than b in colexicographic order, with the last mode most significant.
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto colex_less(A const& a, B const& b) {
  return invoke<Op::colex_less>(a, b);
}
/// Returns true if each leaf of a is less than the corresponding leaf of b: the bounds check of a coordinate
/// a in a shape b.
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto elem_less(A const& a, B const& b) {
  return invoke<Op::elem_less>(a, b);
}
/// Returns true unless elem_less(b, a). As in CuTe, this differs from "each leaf of a is less than or equal
/// to that of b".
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
