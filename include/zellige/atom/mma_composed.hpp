// Products that are one instruction by name and several, or none of the tensor cores', in truth.
//
//   C64 += C64 C64     four real products of SM80's or SM90's double instruction
//   GC64 += C64 C64    three, Gauss's way: re re, im im, (re + im)(re + im); the sums are combined at the end
//   DP4A, DP2A         one thread's dot product of four bytes, of two halfwords
#pragma once

#include <zellige/atom/fragment_registers.hpp>
#include <zellige/atom/mma_atom.hpp>
#include <zellige/atom/mma_traits/names.hpp>
#include <zellige/atom/number_type.hpp>

namespace zellige {
namespace detail {

/// The real instruction of the same shape.
template <class Op>
struct real_form {
  using type = void;
};
#define ZELLIGE_REAL_FORM(complex_op, real_op) \
  template <>                                  \
  struct real_form<complex_op> {               \
    using type = real_op;                      \
  };
ZELLIGE_REAL_FORM(SM80_8x8x4_C64C64C64C64_TN, SM80_8x8x4_F64F64F64F64_TN)
ZELLIGE_REAL_FORM(SM80_8x8x4_GC64C64C64GC64_TN, SM80_8x8x4_F64F64F64F64_TN)
ZELLIGE_REAL_FORM(SM90_16x8x4_C64C64C64C64_TN, SM90_16x8x4_F64F64F64F64_TN)
ZELLIGE_REAL_FORM(SM90_16x8x8_C64C64C64C64_TN, SM90_16x8x8_F64F64F64F64_TN)
ZELLIGE_REAL_FORM(SM90_16x8x16_C64C64C64C64_TN, SM90_16x8x16_F64F64F64F64_TN)
#undef ZELLIGE_REAL_FORM

template <class Op>
concept complex_op = !is_same_v<typename real_form<Op>::type, void>;
template <class Op>
concept dot_op = is_same_v<Op, SM61_DP4A> || is_same_v<Op, SM61_DP2A>;

}  // namespace detail

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
template <detail::complex_op Op, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_DEVICE inline void mma_unpack(MMA_Traits<Op> const&, TD&& d, TA const& a, TB const& b, TC const& c) {
  using Real = typename detail::real_form<Op>::type;
  using A = typename Real::ARegisters;
  using B = typename Real::BRegisters;
  using D = typename Real::DRegisters;
  constexpr int na = int(sizeof(A) / 8), nb = int(sizeof(B) / 8), nd = int(sizeof(D) / 8);
  A ar, ai, more_a;
  B br, bi, more_b;
  D x, y, z;
  constexpr bool gauss = is_same_v<typename MMA_Traits<Op>::ValTypeD, GaussComplex>;
  ZELLIGE_UNROLL
  for (int i = 0; i < na; ++i) {
    complex<double> const v = a(i);
    ar[i] = v.real(), ai[i] = v.imag(), more_a[i] = gauss ? ar[i] + ai[i] : -ai[i];
  }
  ZELLIGE_UNROLL
  for (int i = 0; i < nb; ++i) {
    complex<double> const v = b(i);
    br[i] = v.real(), bi[i] = v.imag(), more_b[i] = br[i] + bi[i];
  }
  ZELLIGE_UNROLL
  for (int i = 0; i < nd; ++i) {
    if constexpr (gauss) {
      GaussComplex const v = c(i);
      x[i] = v.r, y[i] = v.i, z[i] = v.a;
    } else {
      complex<double> const v = c(i);
      x[i] = v.real(), y[i] = v.imag();
    }
  }
  mma<Real>(x, ar, br);
  if constexpr (gauss) {
    mma<Real>(y, ai, bi);
    mma<Real>(z, more_a, more_b);
  } else {
    mma<Real>(x, more_a, bi);
    mma<Real>(y, ar, bi);
    mma<Real>(y, ai, br);
  }
  ZELLIGE_UNROLL
  for (int i = 0; i < nd; ++i) {
    if constexpr (gauss)
      d(i) = GaussComplex{x[i], y[i], z[i]};
    else
      d(i) = complex<double>(x[i], y[i]);
  }
}

template <detail::dot_op Op, tensor_like TD, tensor_like TA, tensor_like TB, tensor_like TC>
ZELLIGE_DEVICE inline void mma_unpack(MMA_Traits<Op> const&, TD&& d, TA const& a, TB const& b, TC const& c) {
  int sum = c(0);
#if defined(__CUDA_ARCH__)
  if constexpr (is_same_v<Op, SM61_DP4A>) {
    int ra[1], rb[1];
    load_registers(ra, a);
    load_registers(rb, b);
    sum = __dp4a(ra[0], rb[0], sum);
  } else
#endif
  {
    ZELLIGE_UNROLL
    for (int i = 0; i < int(size(a)); ++i) sum += int(a(i)) * int(b(i));
  }
  d(0) = sum;
}
#endif

}  // namespace zellige
