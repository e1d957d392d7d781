// fma, add and mul into an operand: the arithmetic operations of gemm on tensors.
#pragma once
#include <zellige/layout/integer.hpp>

namespace zellige {

template <class C, class A, class B>
ZELLIGE_HOST_DEVICE constexpr void add(C& c, A const& a, B const& b) {
  c = a + b;
}
template <class C, class A, class B>
ZELLIGE_HOST_DEVICE constexpr void mul(C& c, A const& a, B const& b) {
  c = a * b;
}
/// d = a * b + c.
template <class D, class A, class B, class C>
ZELLIGE_HOST_DEVICE constexpr void fma(D& d, A const& a, B const& b, C const& c) {
  d = a * b + c;
}
/// c += a * b.
template <class A, class B, class C>
ZELLIGE_HOST_DEVICE constexpr void fma(A const& a, B const& b, C& c) {
  fma(c, a, b, c);
}

}  // namespace zellige
