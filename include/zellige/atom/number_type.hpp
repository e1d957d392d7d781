// Maps the element types of matrix instructions (the enum Number) to C++ types, and back.
//
//   number_t<Number::bf16>             bfloat16_t
//   number_of<bfloat16_t>              Number::bf16
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/number.hpp>
#include <zellige/atom/tfloat32.hpp>
#include <zellige/numeric/complex.hpp>
#include <zellige/numeric/int.hpp>

namespace zellige {

/// Accumulators of a complex matmul by Gauss's method, which takes three real matmuls: r sums re re, i sums im im, and
/// a sums (re + im)(re + im). The complex result is (r - i, a - r - i).
struct GaussComplex {
  double r, i, a;
};
namespace detail {
template <Number n>
struct number_type {
  using type = void;
};
template <class T>
inline constexpr Number number_of_type = Number::none;
}  // namespace detail
/// The C++ type of number type n; void if it has none.
template <Number n>
using number_t = typename detail::number_type<n>::type;
/// The number type of C++ type T, without its cv and reference qualifiers; Number::none if it has none.
template <class T>
inline constexpr Number number_of = detail::number_of_type<remove_cvref_t<T>>;

namespace detail {
#define ZELLIGE_NUMBER(n, T)      \
  template <>                     \
  struct number_type<Number::n> { \
    using type = T;               \
  };                              \
  template <>                     \
  inline constexpr Number number_of_type<T> = Number::n;
ZELLIGE_NUMBER(f16, half_t)
ZELLIGE_NUMBER(bf16, bfloat16_t)
ZELLIGE_NUMBER(tf32, tfloat32_t)
ZELLIGE_NUMBER(f32, float)
ZELLIGE_NUMBER(f64, double)
ZELLIGE_NUMBER(c64, complex<double>)
ZELLIGE_NUMBER(gc64, GaussComplex)
ZELLIGE_NUMBER(e4m3, float_e4m3_t)
ZELLIGE_NUMBER(e5m2, float_e5m2_t)
ZELLIGE_NUMBER(s32, int)
ZELLIGE_NUMBER(s16, short)
ZELLIGE_NUMBER(s8, signed char)
ZELLIGE_NUMBER(u8, unsigned char)
ZELLIGE_NUMBER(s4, int4_t)
ZELLIGE_NUMBER(u4, uint4_t)
ZELLIGE_NUMBER(u1, uint1b_t)
#undef ZELLIGE_NUMBER
}  // namespace detail

}  // namespace zellige
