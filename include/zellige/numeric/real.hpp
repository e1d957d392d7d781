// Defines add, mul and fma as functions that write their result to an argument. The universal FMA atom calls fma.
#pragma once
#include <zellige/layout/integer.hpp>

namespace zellige {

/// Computes c = a + b.
template <class C, class A, class B>
ZELLIGE_HOST_DEVICE constexpr void add(C& c, A const& a, B const& b) {
  c = a + b;
}
/// Computes c = a * b.
template <class C, class A, class B>
ZELLIGE_HOST_DEVICE constexpr void mul(C& c, A const& a, B const& b) {
  c = a * b;
}
/// Computes d = a * b + c.
template <class D, class A, class B, class C>
ZELLIGE_HOST_DEVICE constexpr void fma(D& d, A const& a, B const& b, C const& c) {
  d = a * b + c;
}
/// Computes c = a * b + c.
template <class A, class B, class C>
ZELLIGE_HOST_DEVICE constexpr void fma(A const& a, B const& b, C& c) {
  fma(c, a, b, c);
}

}  // namespace zellige
