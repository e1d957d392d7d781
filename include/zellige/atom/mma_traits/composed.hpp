// Defines the MMA operations of CuTe that are not one tensor core instruction: complex matmuls, made of several real
// ones, and integer dot products.
//
//   C64 += C64 C64     four real products of SM80's or SM90's double instruction
//   GC64 += C64 C64    three real products, by Gauss's method: re re, im im, (re + im)(re + im), which are
//                      accumulated separately (GaussComplex)
//   DP4A, DP2A         one thread's dot product of four bytes, of two halfwords
#pragma once

#include <zellige/atom/mma_traits/names.hpp>
#include <zellige/atom/number_type.hpp>

namespace zellige {
namespace detail {

/// A complex matmul made of real f64 instructions Real of the same shape. Sum is the accumulators' type:
/// complex<double> takes four real matmuls, GaussComplex three.
template <class Real, class Sum>
struct ComplexProduct {
  using RealForm = Real;  // the real instruction of the same shape
  static constexpr int na = register_count<typename Real::ARegisters>, nb = register_count<typename Real::BRegisters>,
                       nd = register_count<typename Real::DRegisters>;
  using DRegisters = Sum[nd];
  using ARegisters = complex<double>[na];
  using BRegisters = complex<double>[nb];
  using CRegisters = Sum[nd];

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
  /// Computes d += a b. All 32 threads of the warp must call it.
  ZELLIGE_CALL static void call(DRegisters& d, ARegisters const& a, BRegisters const& b) {
    constexpr bool gauss = is_same_v<Sum, GaussComplex>;
    typename Real::ARegisters ar, ai, more_a;
    typename Real::BRegisters br, bi, more_b;
    typename Real::DRegisters x, y, z;
    ZELLIGE_UNROLL
    for (int i = 0; i < na; ++i) ar[i] = a[i].real(), ai[i] = a[i].imag(), more_a[i] = gauss ? ar[i] + ai[i] : -ai[i];
    ZELLIGE_UNROLL
    for (int i = 0; i < nb; ++i) br[i] = b[i].real(), bi[i] = b[i].imag(), more_b[i] = br[i] + bi[i];
    ZELLIGE_UNROLL
    for (int i = 0; i < nd; ++i) {
      if constexpr (gauss)
        x[i] = d[i].r, y[i] = d[i].i, z[i] = d[i].a;
      else
        x[i] = d[i].real(), y[i] = d[i].imag();
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
        d[i] = GaussComplex{x[i], y[i], z[i]};
      else
        d[i] = complex<double>(x[i], y[i]);
    }
  }
#endif
};

/// An integer dot product by one thread. A and B are 32-bit registers that hold four (T = signed char) or two (short)
/// numbers each; the accumulator is int32.
template <class T>
struct DotProduct {
  using DRegisters = int32_t[1];
  using ARegisters = uint32_t[1];
  using BRegisters = uint32_t[1];
  using CRegisters = int32_t[1];

  /// Adds the dot product of a and b to d. If T has one byte, this is one instruction (dp4a) on the device.
  ZELLIGE_ANYWHERE static void call(DRegisters& d, ARegisters const& a, BRegisters const& b) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 1) {
      d[0] = __dp4a(int(a[0]), int(b[0]), d[0]);
      return;
    }
#endif
    ZELLIGE_UNROLL
    for (unsigned at = 0; at < 32; at += 8 * sizeof(T)) d[0] += int(T(a[0] >> at)) * int(T(b[0] >> at));
  }
};

}  // namespace detail

#define ZELLIGE_COMPOSED(op, ...)                                   \
  struct op : detail::RegisterByRegister<op>, detail::__VA_ARGS__ { \
    static constexpr char name[] = #op;                             \
  };
ZELLIGE_COMPOSED(SM61_DP4A, DotProduct<signed char>)
ZELLIGE_COMPOSED(SM61_DP2A, DotProduct<short>)
ZELLIGE_COMPOSED(SM80_8x8x4_C64C64C64C64_TN, ComplexProduct<SM80_8x8x4_F64F64F64F64_TN, complex<double>>)
ZELLIGE_COMPOSED(SM90_16x8x4_C64C64C64C64_TN, ComplexProduct<SM90_16x8x4_F64F64F64F64_TN, complex<double>>)
ZELLIGE_COMPOSED(SM90_16x8x8_C64C64C64C64_TN, ComplexProduct<SM90_16x8x8_F64F64F64F64_TN, complex<double>>)
ZELLIGE_COMPOSED(SM90_16x8x16_C64C64C64C64_TN, ComplexProduct<SM90_16x8x16_F64F64F64F64_TN, complex<double>>)
#undef ZELLIGE_COMPOSED
struct SM80_8x8x4_GC64C64C64GC64_TN : detail::RegisterByRegister<SM80_8x8x4_GC64C64C64GC64_TN>,
                                      detail::ComplexProduct<SM80_8x8x4_F64F64F64F64_TN, zellige::GaussComplex> {
  static constexpr char name[] = "SM80_8x8x4_GC64C64C64GC64_TN";
  using GaussComplex = zellige::GaussComplex;
};

namespace SM90 {
using MMA_16x8x4_F64F64F64F64_TN = SM90_16x8x4_F64F64F64F64_TN;
using MMA_16x8x4_C64C64C64C64_TN = SM90_16x8x4_C64C64C64C64_TN;
using MMA_16x8x8_F64F64F64F64_TN = SM90_16x8x8_F64F64F64F64_TN;
using MMA_16x8x8_C64C64C64C64_TN = SM90_16x8x8_C64C64C64C64_TN;
using MMA_16x8x16_F64F64F64F64_TN = SM90_16x8x16_F64F64F64F64_TN;
using MMA_16x8x16_C64C64C64C64_TN = SM90_16x8x16_C64C64C64C64_TN;
}  // namespace SM90

}  // namespace zellige
