// Declares complex<T>: CUTLASS's type if CUTLASS follows on the include path, else Zellige's.
#pragma once
#if __has_include_next(<cutlass/complex.h>)
#include_next <cutlass/complex.h>

#include <cute/config.hpp>
#include <zellige/numeric/real.hpp>

namespace zellige {

using cutlass::complex, cutlass::is_complex, cutlass::RealType;
using cutlass::conj, cutlass::imag, cutlass::norm, cutlass::real;

template <class T>
inline constexpr bool is_complex_v = is_complex<T>::value;

/// Computes d = a * b + c; real and imaginary part in two multiply-adds each, like the instructions.
template <class D, class A, class B, class C>
CUTE_HOST_DEVICE constexpr void fma(complex<D>& d, complex<A> const& a, complex<B> const& b, complex<C> const& c) {
  D const re = a.real() * b.real() + c.real() - a.imag() * b.imag();
  d.imag() = a.real() * b.imag() + c.imag() + a.imag() * b.real();
  d.real() = re;
}
/// Computes c = a * b + c.
template <class A, class B, class C>
CUTE_HOST_DEVICE constexpr void fma(complex<A> const& a, complex<B> const& b, complex<C>& c) {
  fma(c, a, b, c);
}

}  // namespace zellige
#else
#include_next <zellige/numeric/complex.hpp>
#endif
