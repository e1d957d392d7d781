// Defines the elementwise functions, sums, maxima and conversions of math.hpp, integer.hpp and cast.hpp for double. Kernels compute with
// tensors of f64 by them, with the C library's functions and no approximate instruction.
//
//   double y = zellige::gelu(x);              // within a few units of the last place
//   double z = cast<double>(1.5f);            // exact
//   float h = cast<half_t>(0.1);              // rounded to float first, as PyTorch does
//
// Each function takes doubles alone: an argument of another type selects the function for float or int.
#pragma once
#include <zellige/atom/cast.hpp>
#include <zellige/atom/math.hpp>

namespace zellige {

namespace detail {
template <>
struct register_of<double> {
  using type = double;
};
template <class T>
concept is_double = is_same_v<T, double>;
}  // namespace detail

#if defined(__CUDA_ARCH__)
#define ZELLIGE_LIBM(name) ::name
#else
#define ZELLIGE_LIBM(name) __builtin_##name
#endif

template <detail::is_double T>
ZELLIGE_ANYWHERE T exp(T x) {
  return ZELLIGE_LIBM(exp)(x);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T log(T x) {
  return ZELLIGE_LIBM(log)(x);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T log1p(T x) {
  return ZELLIGE_LIBM(log1p)(x);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T sqrt(T x) {
  return ZELLIGE_LIBM(sqrt)(x);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T tanh(T x) {
  return ZELLIGE_LIBM(tanh)(x);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T sin(T x) {
  return ZELLIGE_LIBM(sin)(x);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T cos(T x) {
  return ZELLIGE_LIBM(cos)(x);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T abs(T x) {
  return ZELLIGE_LIBM(fabs)(x);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T pow(T x, T y) {
  return ZELLIGE_LIBM(pow)(x, y);
}
namespace detail {
/// Returns the normal distribution's cumulative probability at x. Uses erfc, because 1 + erf would cancel for negative x.
ZELLIGE_ANYWHERE double normal(double x) { return ZELLIGE_LIBM(erfc)(x * -0.70710678118654752440) * 0.5; }
}  // namespace detail
#undef ZELLIGE_LIBM

template <detail::is_double T>
ZELLIGE_ANYWHERE T rsqrt(T x) {
  return 1.0 / zellige::sqrt(x);
}
/// Returns the larger number, or NaN if an operand is NaN.
template <detail::is_double T>
ZELLIGE_ANYWHERE T max(T x, T y) {
  return x > y || x != x ? x : y;
}
/// Returns the smaller number, or NaN if an operand is NaN.
template <detail::is_double T>
ZELLIGE_ANYWHERE T min(T x, T y) {
  return x < y || x != x ? x : y;
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T sum_of(T x, T y) {
  return x + y;
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T square(T x) {
  return x * x;
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T relu(T x) {
  return zellige::max(x, 0.0);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T clamp(T x, T low, T high) {
  return zellige::min(zellige::max(x, low), high);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T sigmoid(T x) {
  return 1.0 / (1.0 + zellige::exp(-x));
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T silu(T x) {
  return x / (1.0 + zellige::exp(-x));
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T gelu(T x) {
  return x * detail::normal(x);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE T gelu_tanh(T x) {  // (1 + tanh z) / 2 = 1 / (1 + e^-2z)
  return x / (1.0 + zellige::exp(-1.5957691216057308 * (x + 0.044715 * (x * x * x))));
}

/// Returns x rounded toward zero, as to_int(float) does.
template <detail::is_double T>
ZELLIGE_ANYWHERE int to_int(T x) {
  if (x != x) return 0;
  if (x >= 2147483647.0) return 2147483647;
  return x <= -2147483648.0 ? -2147483647 - 1 : static_cast<int>(x);
}
template <detail::is_double T>
ZELLIGE_ANYWHERE int64_t to_int64(T x) {
  if (x != x) return 0;
  if (x >= 0x1p63) return 9223372036854775807ll;
  return x <= -0x1p63 ? -9223372036854775807ll - 1 : static_cast<int64_t>(x);
}

/// Returns x as a T. A floating-point type narrower than float is rounded to from float.
template <class T>
requires(!is_same_v<T, double>) ZELLIGE_ANYWHERE T rounded(double x) {
  if constexpr (is_same_v<T, bool>)
    return x != 0.0;
  else if constexpr (is_same_v<T, int64_t>)
    return to_int64(x);
  else if constexpr (!detail::is_float_register<T>)
    return static_cast<T>(to_int(x));
  else if constexpr (is_same_v<T, float>)
    return static_cast<float>(x);
  else
    return rounded<T>(static_cast<float>(x));
}
/// Returns x as a double. An int64_t is rounded to the nearest one.
template <class T>
requires is_same_v<T, double> ZELLIGE_ANYWHERE T rounded(double x) { return static_cast<double>(x); }
template <class T>
requires is_same_v<T, double> ZELLIGE_ANYWHERE T rounded(float x) { return static_cast<double>(x); }
template <class T>
requires is_same_v<T, double> ZELLIGE_ANYWHERE T rounded(int x) { return static_cast<double>(x); }
template <class T>
requires is_same_v<T, double> ZELLIGE_ANYWHERE T rounded(int64_t x) { return static_cast<double>(x); }

namespace detail {
template <bool Saturate>
ZELLIGE_ANYWHERE double as_double(double x) {
  constexpr double greatest = 0x1.fffffffffffffp1023;
  return Saturate ? zellige::clamp(x, -greatest, greatest) : x;
}
}  // namespace detail

/// Returns the value of x after a conversion to T, as a number of registers. If Saturate, x is first clamped to T's
/// finite range.
template <class T, bool Saturate = false>
requires(!is_same_v<T, double>) ZELLIGE_ANYWHERE register_t<T> cast(double x) {
  if constexpr (is_same_v<T, float>) {
    constexpr double greatest = detail::greatest<float>;
    return static_cast<float>(Saturate ? clamp(x, -greatest, greatest) : x);
  } else if constexpr (detail::is_float_register<T>) {
    return cast<T, Saturate>(static_cast<float>(x));
  } else if constexpr (Saturate && detail::is_narrow<T>) {
    return min(max(to_int(x), detail::least<T>), detail::most<T>);
  } else {
    return register_t<T>(rounded<T>(x));
  }
}
template <class T, bool Saturate = false>
requires is_same_v<T, double> ZELLIGE_ANYWHERE register_t<T> cast(double x) {
  return detail::as_double<Saturate>(static_cast<double>(x));
}
template <class T, bool Saturate = false>
requires is_same_v<T, double> ZELLIGE_ANYWHERE register_t<T> cast(float x) {
  return detail::as_double<Saturate>(static_cast<double>(x));
}
template <class T, bool Saturate = false>
requires is_same_v<T, double> ZELLIGE_ANYWHERE register_t<T> cast(int x) {
  return detail::as_double<Saturate>(static_cast<double>(x));
}
template <class T, bool Saturate = false>
requires is_same_v<T, double> ZELLIGE_ANYWHERE register_t<T> cast(int64_t x) {
  return detail::as_double<Saturate>(static_cast<double>(x));
}

}  // namespace zellige
