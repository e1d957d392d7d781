// Defines arithmetic on the types narrower than float (half_t, bfloat16_t, ...). Operations compute in float, and
// their result is rounded once, when it is assigned to a narrow type.
//
//   half_t h = a * b + c;      // in float, rounded at the end
//   h += 0.5f;                 // likewise
//   float exact = a * b;       // not rounded
//
// A float converts to a narrow type by assignment or explicitly, half_t(0.1f). It does not convert implicitly, so
// that `p ? h : 0.f` is a float.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

/// Result of arithmetic on a narrow type T, not yet rounded. It converts to float exactly, and to T by rounding.
template <class T>
struct FloatOf {
  float value;
  ZELLIGE_ANYWHERE operator float() const { return value; }
  ZELLIGE_ANYWHERE FloatOf& operator+=(float x) { return value += x, *this; }
  ZELLIGE_ANYWHERE FloatOf& operator-=(float x) { return value -= x, *this; }
  ZELLIGE_ANYWHERE FloatOf& operator*=(float x) { return value *= x, *this; }
  ZELLIGE_ANYWHERE FloatOf& operator/=(float x) { return value /= x, *this; }
};

namespace detail {
template <class T>
struct narrow {
  using type = T;
};
template <class T>
struct narrow<FloatOf<T>> {
  using type = T;
};
template <class A, class B>
inline constexpr bool same_narrow = false;
template <class T>
inline constexpr bool same_narrow<T, T> = true;
}  // namespace detail
/// The types half_t, bfloat16_t, tfloat32_t and the 8-bit floats.
template <class T>
concept narrow_float = requires {
  typename T::narrow_float_tag;
};
/// True if A and B are the same narrow type T, or unrounded results (FloatOf<T>) of it. Mixing two narrow types, such
/// as half_t and bfloat16_t, is thus done as floats.
template <class A, class B>
concept of_one_narrow_float =
    narrow_float<typename detail::narrow<A>::type> && detail::same_narrow < typename detail::narrow<A>::type,
typename detail::narrow<B>::type > ;

template <class A, class B>
requires of_one_narrow_float<A, B> ZELLIGE_ANYWHERE auto operator+(const A& a, const B& b) {
  return FloatOf<typename detail::narrow<A>::type>{float(a) + float(b)};
}
template <class A, class B>
requires of_one_narrow_float<A, B> ZELLIGE_ANYWHERE auto operator-(const A& a, const B& b) {
  return FloatOf<typename detail::narrow<A>::type>{float(a) - float(b)};
}
template <class A, class B>
requires of_one_narrow_float<A, B> ZELLIGE_ANYWHERE auto operator*(const A& a, const B& b) {
  return FloatOf<typename detail::narrow<A>::type>{float(a) * float(b)};
}
template <class A, class B>
requires of_one_narrow_float<A, B> ZELLIGE_ANYWHERE auto operator/(const A& a, const B& b) {
  return FloatOf<typename detail::narrow<A>::type>{float(a) / float(b)};
}
template <class A>
requires of_one_narrow_float<A, A> ZELLIGE_ANYWHERE auto operator-(const A& a) {
  return FloatOf<typename detail::narrow<A>::type>{-float(a)};
}
template <narrow_float T>
ZELLIGE_ANYWHERE T& operator+=(T& a, float b) {
  return a = T(float(a) + b);
}
template <narrow_float T>
ZELLIGE_ANYWHERE T& operator-=(T& a, float b) {
  return a = T(float(a) - b);
}
template <narrow_float T>
ZELLIGE_ANYWHERE T& operator*=(T& a, float b) {
  return a = T(float(a) * b);
}
template <narrow_float T>
ZELLIGE_ANYWHERE T& operator/=(T& a, float b) {
  return a = T(float(a) / b);
}
template <narrow_float T>
ZELLIGE_ANYWHERE T& operator++(T& a) {
  return a += 1.0f;
}
template <narrow_float T>
ZELLIGE_ANYWHERE T& operator--(T& a) {
  return a -= 1.0f;
}
template <narrow_float T>
ZELLIGE_ANYWHERE T operator++(T& a, int) {
  const T before = a;
  a += 1.0f;
  return before;
}
template <narrow_float T>
ZELLIGE_ANYWHERE T operator--(T& a, int) {
  const T before = a;
  a -= 1.0f;
  return before;
}

}  // namespace zellige
