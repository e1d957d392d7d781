// Multiply-add without a matrix instruction.
#pragma once

#include <zellige/atom/mma_traits/row.hpp>
#include <zellige/numeric/real.hpp>

namespace zellige {

/// d = a * b + c by one thread, in the given types.
template <class D, class A = D, class B = A, class C = D>
struct UniversalFMA {
  using DRegisters = D[1];
  using ARegisters = A[1];
  using BRegisters = B[1];
  using CRegisters = C[1];
  ZELLIGE_ALGEBRA static constexpr MmaRow row() { return {0, 1, 1, 1}; }
  ZELLIGE_HOST_DEVICE static constexpr void fma(D& d, A const& a, B const& b, C const& c) {
    zellige::fma(d, a, b, c);
  }
};

}  // namespace zellige
