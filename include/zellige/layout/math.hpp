// Defines absolute value, min, max, gcd, lcm and bit operations on integers. If all operands are static integers, the
// result is a static integer.
#pragma once
#include <zellige/layout/overflow.hpp>

namespace zellige {

namespace detail {
template <class T>
ZELLIGE_HOST_DEVICE constexpr T gcd_of(T a, T b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b != 0) {
    T const r = a % b;
    a = b;
    b = r;
  }
  return a;
}
}  // namespace detail

template <dynamic_integer T>
ZELLIGE_HOST_DEVICE constexpr T abs(T a) {
  return a < T(0) ? T(-a) : a;
}
template <auto a>
ZELLIGE_HOST_DEVICE constexpr C<(a < 0 ? -a : a)> abs(C<a>) {
  return {};
}

template <dynamic_integer T>
ZELLIGE_HOST_DEVICE constexpr int signum(T a) {
  return (T(0) < a) - (a < T(0));
}
template <auto a>
ZELLIGE_HOST_DEVICE constexpr C<(0 < a) - (a < 0)> signum(C<a>) {
  return {};
}

template <integral A, integral B>
ZELLIGE_HOST_DEVICE constexpr auto min(A a, B b) {
  if constexpr (is_static_integer_v<A> && is_static_integer_v<B>) {
    return C<(A::value < B::value ? A::value : B::value)>{};
  } else {
    using T = decltype(+a + +b);
    return T(a) < T(b) ? T(a) : T(b);
  }
}
template <integral A, integral B>
ZELLIGE_HOST_DEVICE constexpr auto max(A a, B b) {
  if constexpr (is_static_integer_v<A> && is_static_integer_v<B>) {
    return C<(A::value < B::value ? B::value : A::value)>{};
  } else {
    using T = decltype(+a + +b);
    return T(a) < T(b) ? T(b) : T(a);
  }
}
template <integral A, integral B>
ZELLIGE_HOST_DEVICE constexpr auto gcd(A a, B b) {
  if constexpr (is_static_integer_v<A> && is_static_integer_v<B>) {
    return C<detail::gcd_of(+A::value + 0 * +B::value, +B::value + 0 * +A::value)>{};
  } else {
    using T = decltype(+a + +b);
    return detail::gcd_of(T(a), T(b));
  }
}
template <integral A, integral B>
ZELLIGE_HOST_DEVICE constexpr auto lcm(A a, B b) {
  return detail::product_of_two(a / gcd(a, b), b);
}

namespace detail {
template <class T>
ZELLIGE_HOST_DEVICE constexpr int width_of(T a) {
  int n = 0;
  for (; a != 0; a = T(a / 2)) ++n;
  return n;
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr int ones_of(T a) {
  int n = 0;
  for (; a != 0; a = T(a / 2)) n += int(a % 2);
  return n;
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr int zeros_below(T a) {
  int n = 0;
  for (; a != 0 && a % 2 == 0; a = T(a / 2)) ++n;
  return a == 0 ? int(8 * sizeof(T)) : n;
}
}  // namespace detail
/// Returns the number of bits needed to represent a: one more than the position of the highest set bit; 0 for
/// 0.
template <integral A>
ZELLIGE_HOST_DEVICE constexpr auto bit_width(A a) {
  if constexpr (is_static_integer_v<A>)
    return Int<detail::width_of(A::value)>{};
  else
    return detail::width_of(a);
}
template <integral A>
ZELLIGE_HOST_DEVICE constexpr auto popcount(A a) {
  if constexpr (is_static_integer_v<A>)
    return Int<detail::ones_of(A::value)>{};
  else
    return detail::ones_of(a);
}
/// Returns the number of zero bits below the lowest set bit of a; for a = 0, the width of its type.
template <integral A>
ZELLIGE_HOST_DEVICE constexpr auto countr_zero(A a) {
  if constexpr (is_static_integer_v<A>)
    return Int<detail::zeros_below(A::value)>{};
  else
    return detail::zeros_below(a);
}
/// True if a is a power of two.
template <integral A>
ZELLIGE_HOST_DEVICE constexpr auto has_single_bit(A a) {
  return popcount(a) == Int<1>{};
}
/// Returns the base-2 logarithm of a, rounded down.
template <integral A>
ZELLIGE_HOST_DEVICE constexpr auto log_2(A a) {
  return bit_width(a) - Int<1>{};
}

/// Returns a shifted left by n bits, or right by -n bits if n is negative.
template <integral A, auto n>
ZELLIGE_HOST_DEVICE constexpr auto shiftl(A a, C<n>) {
  if constexpr (n >= 0)
    return a << C<n>{};
  else
    return a >> C<-n>{};
}
/// Returns a shifted right by n bits, or left by -n bits if n is negative.
template <integral A, auto n>
ZELLIGE_HOST_DEVICE constexpr auto shiftr(A a, C<n>) {
  if constexpr (n >= 0)
    return a >> C<n>{};
  else
    return a << C<-n>{};
}

}  // namespace zellige
