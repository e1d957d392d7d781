// Defines small numeric functions for host and device: bit counts, rotations, shifts by a signed number, min, max and
// abs of floating-point numbers, division with remainder, and selection by a static condition.
#pragma once
#include <zellige/layout/math.hpp>

namespace zellige {

namespace detail {
template <class T>
inline constexpr int digits_of = int(8 * sizeof(T)) - (T(-1) < T(1) ? 1 : 0);
}  // namespace detail

/// Number of leading zero bits of x.
template <dynamic_integer T>
ZELLIGE_HOST_DEVICE constexpr int countl_zero(T x) {
  return detail::digits_of<T> - int(bit_width(x));
}
/// Number of leading one bits of x.
template <dynamic_integer T>
ZELLIGE_HOST_DEVICE constexpr int countl_one(T x) {
  return countl_zero(T(~x));
}
/// Number of trailing one bits of x.
template <dynamic_integer T>
ZELLIGE_HOST_DEVICE constexpr int countr_one(T x) {
  return countr_zero(T(~x));
}
/// Returns the least power of two that is not less than x; 1 for 0. Static for a static x.
template <integral T>
ZELLIGE_HOST_DEVICE constexpr auto bit_ceil(T x) {
  if constexpr (is_static_integer_v<T>)
    return C<bit_ceil(T::value)>{};
  else
    return x == 0 ? T(1) : T(T(1) << bit_width(T(x - 1)));
}
/// Returns the greatest power of two that is not greater than x; 0 for 0. Static for a static x.
template <integral T>
ZELLIGE_HOST_DEVICE constexpr auto bit_floor(T x) {
  if constexpr (is_static_integer_v<T>)
    return C<bit_floor(T::value)>{};
  else
    return x == 0 ? T(0) : T(T(1) << (bit_width(x) - 1));
}
template <dynamic_integer T>
ZELLIGE_HOST_DEVICE constexpr T rotr(T x, int n);
/// Returns x with its bits rotated left by n, or right by -n if n is negative.
template <dynamic_integer T>
ZELLIGE_HOST_DEVICE constexpr T rotl(T x, int n) {
  constexpr int bits = 8 * sizeof(T);
  int const by = n % bits;
  if (by == 0) return x;
  return by > 0 ? T(T(x << by) | T(x >> (bits - by))) : rotr(x, -by);
}
template <dynamic_integer T>
ZELLIGE_HOST_DEVICE constexpr T rotr(T x, int n) {
  constexpr int bits = 8 * sizeof(T);
  int const by = n % bits;
  if (by == 0) return x;
  return by > 0 ? T(T(x >> by) | T(x << (bits - by))) : rotl(x, -by);
}
/// Returns x shifted left by n bits, or right by -n bits if n is negative.
template <integral T, dynamic_integer N>
ZELLIGE_HOST_DEVICE constexpr auto shiftl(T x, N n) {
  return n >= 0 ? (x << n) : (x >> -n);
}
/// Returns x shifted right by n bits, or left by -n bits if n is negative.
template <integral T, dynamic_integer N>
ZELLIGE_HOST_DEVICE constexpr auto shiftr(T x, N n) {
  return n >= 0 ? (x >> n) : (x << -n);
}

// The overloads of min, max, abs and signum for float and double; math.hpp has those for integers.
namespace detail {
template <class T>
inline constexpr bool is_real_v = is_same_v<T, float> || is_same_v<T, double>;
template <class T>
concept scalar = is_real_v<T> || dynamic_integer<T>;
template <class T, class U>
concept with_a_real = scalar<T> && scalar<U> &&(is_real_v<T> || is_real_v<U>);
}  // namespace detail
template <class T, class U>
requires detail::with_a_real<T, U> ZELLIGE_HOST_DEVICE constexpr auto max(T const& t, U const& u) {
  return t < u ? u : t;
}
template <class T, class U>
requires detail::with_a_real<T, U> ZELLIGE_HOST_DEVICE constexpr auto min(T const& t, U const& u) {
  return u < t ? u : t;
}
template <class T>
requires detail::is_real_v<T> ZELLIGE_HOST_DEVICE constexpr T abs(T const& t) { return t < T(0) ? -t : t; }
template <class T>
requires detail::is_real_v<T> ZELLIGE_HOST_DEVICE constexpr int signum(T const& t) { return (T(0) < t) - (t < T(0)); }

/// Result of divmod: a / b and a % b.
template <class Quotient, class Remainder>
struct DivModReturnType {
  Quotient div_;
  Remainder mod_;
};
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto divmod(A const& a, B const& b) {
  return DivModReturnType<remove_cvref_t<decltype(a / b)>, remove_cvref_t<decltype(a % b)>>{a / b, a % b};
}

/// Returns t if the condition (the first argument) is true, else f. If the condition is static, the result
/// has the type of the selected operand, and the types of t and f may differ.
template <class T, class F>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) conditional_return(true_type, T&& t, F&&) {
  return static_cast<T&&>(t);
}
template <class T, class F>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) conditional_return(false_type, T&&, F&& f) {
  return static_cast<F&&>(f);
}
template <class B, class T, class F>
requires is_same_v<B, bool> ZELLIGE_HOST_DEVICE constexpr auto conditional_return(B b, T const& t, F const& f) {
  if constexpr (is_same_v<T, F>)
    return b ? t : f;
  else if constexpr (is_static_integer_v<T> && is_static_integer_v<F>)
    return b ? T::value : F::value;
  else
    return b ? t : f;
}
template <bool b, class T, class F>
ZELLIGE_HOST_DEVICE constexpr auto conditional_return(T const& t, F const& f) {
  if constexpr (b)
    return t;
  else
    return f;
}

/// Returns Trait::value: as a static Int if Trait::value is an integer, else as a run-time value.
template <class Trait>
ZELLIGE_HOST_DEVICE constexpr auto static_value() {
  if constexpr (is_builtin_integer<remove_cvref_t<decltype(Trait::value)>>)
    return Int<int(Trait::value)>{};
  else
    return Trait::value;
}

}  // namespace zellige
