// Defines UniversalFMA, as in CuTe: a scalar multiply-add with the interface of a matrix instruction, for any number
// types.
//
//   gemm(make_tiled_mma(UniversalFMA<float>{}, Layout<Shape<_16, _16, _1>>{}), rA, rB, rC);
#pragma once

#include <zellige/atom/mma_traits/row.hpp>
#include <zellige/numeric/real.hpp>

namespace zellige {

/// The 1x1x1 instruction of a single thread: fma computes d = a * b + c in the types D, A, B and C.
template <class D, class A = D, class B = A, class C = D>
struct UniversalFMA {
  using DRegisters = D[1];
  using ARegisters = A[1];
  using BRegisters = B[1];
  using CRegisters = C[1];
  ZELLIGE_ALGEBRA static constexpr MmaRow row() { return {0, 1, 1, 1}; }
  ZELLIGE_HOST_DEVICE static constexpr void fma(D& d, A const& a, B const& b, C const& c) { zellige::fma(d, a, b, c); }
};

}  // namespace zellige
