// Sums and products of integers that are checked for overflow where checks are enabled (check.hpp): of run-time numbers
// when they are computed, of static ones in the compiler.
//
// A function of this header gets the operands as long long, so that it is instantiated once per result type and not
// for every static operand. Callers use it only if `checked_arithmetic<R>` holds of the result's type R.
#pragma once
#include <zellige/layout/check.hpp>
#include <zellige/layout/integer.hpp>

namespace zellige::detail {

inline constexpr bool arithmetic_is_checked = ZELLIGE_CHECK;
/// True if results of type R, a built-in integer, are checked for overflow in this pass of the compiler.
template <class R>
inline constexpr bool checked_arithmetic = arithmetic_is_checked&& is_builtin_integer<R>;

/// True if the product of an A and a B is checked: its type is a built-in integer, and both convert to numbers.
template <class A, class B>
concept checked_factors = requires(A const& a, B const& b) {
  static_cast<long long>(a);
  static_cast<long long>(b);
  requires checked_arithmetic<decltype(a * b)>;
};

/// Reports that the result of x and y does not fit the type R.
template <class R>
ZELLIGE_HOST_DEVICE inline void does_not_fit(long long x, long long y) {
  broken(sizeof(R) < 8 ? Rule::int_overflow : Rule::overflow, x, y);
}

/// Returns a * b. Reports a product that does not fit R. A product of an unsigned and a negative number wraps, as C++
/// defines it.
template <class R>
ZELLIGE_HOST_DEVICE constexpr R checked_product(long long a, long long b) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(R) < 8) {
    if (long long const p = a * b; p != static_cast<long long>(R(p))) does_not_fit<R>(a, b);
  }
  return R(R(a) * R(b));
#else
  R r = 0;
  if (__builtin_mul_overflow(a, b, &r) && !(R(-1) > R(0) && (a < 0 || b < 0))) does_not_fit<R>(a, b);
  return r;
#endif
}
/// Returns a * b; static if both are.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto product_of_two(A const& a, B const& b) {
  using R = decltype(a * b);
  if constexpr (checked_arithmetic<R>)
    return checked_product<R>(static_cast<long long>(a), static_cast<long long>(b));
  else
    return a * b;
}
/// Returns the product of all numbers: 0 if one of them is 0. Reports a product that does not fit R.
template <class R, int n>
ZELLIGE_HOST_DEVICE constexpr R checked_product(long long const (&numbers)[n]) {
  for (long long const v : numbers) {
    if (v == 0) return 0;
  }
  R r = 1;
  for (long long const v : numbers) r = checked_product<R>(static_cast<long long>(r), v);
  return r;
}
/// Returns the sum of all numbers. Reports a sum that does not fit R; that of unsigned numbers wraps where a number is
/// negative.
template <class R, int n>
ZELLIGE_HOST_DEVICE constexpr R checked_sum(long long const (&numbers)[n]) {
  long long sum = 0, before = 0;
  for (long long const v : numbers) {
    before = sum;
#if defined(__CUDA_ARCH__)
    sum += v;
#else
    if (__builtin_add_overflow(sum, v, &sum)) does_not_fit<long long>(before, v);
#endif
  }
  if constexpr (sizeof(R) < 8 && R(-1) < R(0)) {
    if (sum != static_cast<long long>(R(sum))) does_not_fit<R>(before, numbers[n - 1]);
  }
  return R(sum);
}
/// Returns n as an int. Reports a number that does not fit.
ZELLIGE_HOST_DEVICE constexpr int checked_int(long long n) {
  if (n < -2147483647 - 1 || n > 2147483647) broken(Rule::int_range, n, 2147483647);
  return int(n);
}

}  // namespace zellige::detail
