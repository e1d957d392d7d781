// Defines complex<T>: complex numbers with arithmetic, on the host and in kernels.
//
//   complex<float> z(1, 2);   z * conj(z)   is  (5, 0);   z.imag() = 3;
#pragma once
#include <zellige/numeric/real.hpp>

namespace zellige {

template <class T>
struct complex {
  using value_type = T;
  T re, im;

  complex() = default;
  ZELLIGE_HOST_DEVICE constexpr complex(T r) : re(r), im(T(0)) {}
  ZELLIGE_HOST_DEVICE constexpr complex(T r, T i) : re(r), im(i) {}
  template <class U>
  ZELLIGE_HOST_DEVICE constexpr complex(complex<U> const& z) : re(T(z.re)), im(T(z.im)) {}

  ZELLIGE_HOST_DEVICE constexpr T const& real() const { return re; }
  ZELLIGE_HOST_DEVICE constexpr T& real() { return re; }
  ZELLIGE_HOST_DEVICE constexpr T const& imag() const { return im; }
  ZELLIGE_HOST_DEVICE constexpr T& imag() { return im; }

  ZELLIGE_HOST_DEVICE constexpr complex& operator+=(complex const& z) { return *this = *this + z; }
  ZELLIGE_HOST_DEVICE constexpr complex& operator-=(complex const& z) { return *this = *this - z; }
  ZELLIGE_HOST_DEVICE constexpr complex& operator*=(complex const& z) { return *this = *this * z; }
  ZELLIGE_HOST_DEVICE constexpr complex& operator/=(complex const& z) { return *this = *this / z; }
  ZELLIGE_HOST_DEVICE constexpr complex operator-() const { return {T(-re), T(-im)}; }
  ZELLIGE_HOST_DEVICE friend constexpr complex operator+(complex const& a, complex const& b) {
    return {T(a.re + b.re), T(a.im + b.im)};
  }
  ZELLIGE_HOST_DEVICE friend constexpr complex operator-(complex const& a, complex const& b) {
    return {T(a.re - b.re), T(a.im - b.im)};
  }
  ZELLIGE_HOST_DEVICE friend constexpr complex operator*(complex const& a, complex const& b) {
    return {T(a.re * b.re - a.im * b.im), T(a.re * b.im + a.im * b.re)};
  }
  ZELLIGE_HOST_DEVICE friend constexpr complex operator/(complex const& a, complex const& b) {
    T const n = b.re * b.re + b.im * b.im;
    return {T((a.re * b.re + a.im * b.im) / n), T((a.im * b.re - a.re * b.im) / n)};
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator==(complex const& a, complex const& b) {
    return a.re == b.re && a.im == b.im;
  }
};

template <class T>
struct is_complex : bool_constant<false> {};
template <class T>
struct is_complex<complex<T>> : bool_constant<true> {};
template <class T>
inline constexpr bool is_complex_v = is_complex<T>::value;
/// The type of real and imaginary part; T itself if T is not complex.
template <class T>
struct RealType {
  using Type = T;
};
template <class T>
struct RealType<complex<T>> {
  using Type = T;
};

// Returns the real part of a complex number.
template <class T>
ZELLIGE_HOST_DEVICE constexpr T real(complex<T> const& z) {
  return z.re;
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr T imag(complex<T> const& z) {
  return z.im;
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr complex<T> conj(complex<T> const& z) {
  return {z.re, T(-z.im)};
}
/// Returns the squared absolute value of z.
template <class T>
ZELLIGE_HOST_DEVICE constexpr T norm(complex<T> const& z) {
  return z.re * z.re + z.im * z.im;
}
template <class T>
requires(!is_complex_v<T>) ZELLIGE_HOST_DEVICE constexpr T real(T const& x) { return x; }
template <class T>
requires(!is_complex_v<T>) ZELLIGE_HOST_DEVICE constexpr T imag(T const&) { return T(0); }
template <class T>
requires(!is_complex_v<T>) ZELLIGE_HOST_DEVICE constexpr T conj(T const& x) { return x; }

/// Computes d = a * b + c.
template <class D, class A, class B, class C>
ZELLIGE_HOST_DEVICE constexpr void fma(complex<D>& d, complex<A> const& a, complex<B> const& b, complex<C> const& c) {
  D const re = a.re * b.re + c.re - a.im * b.im;
  d.im = a.re * b.im + c.im + a.im * b.re;
  d.re = re;
}
/// Computes c = a * b + c.
template <class A, class B, class C>
ZELLIGE_HOST_DEVICE constexpr void fma(complex<A> const& a, complex<B> const& b, complex<C>& c) {
  fma(c, a, b, c);
}

}  // namespace zellige
