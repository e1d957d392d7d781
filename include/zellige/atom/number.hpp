// The kinds of number that instructions take, as values and as types.
//
//   bits_of(Number::bf16)              16
//   number_t<Number::bf16>             bfloat16_t
//   number_of<bfloat16_t>              Number::bf16
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/tfloat32.hpp>
#include <zellige/numeric/complex.hpp>
#include <zellige/numeric/int.hpp>

namespace zellige {

enum class Number : signed char {
  none,
  f16,
  bf16,
  tf32,
  f32,
  f64,
  c64,   // a complex number of two f64
  gc64,  // the three sums by which Gauss multiplies complex numbers
  e4m3,
  e5m2,
  s32,
  s16,
  s8,
  u8,
  s4,
  u4,
  u1,
};

/// What instruction names call it, and its size.
struct NumberName {
  Number number;
  char const* name;
  short bits;
};
inline constexpr NumberName number_names[] = {
    {Number::f16, "F16", 16},    {Number::bf16, "BF16", 16}, {Number::tf32, "TF32", 32},
    {Number::f32, "F32", 32},    {Number::f64, "F64", 64},   {Number::c64, "C64", 128},
    {Number::gc64, "GC64", 192}, {Number::e4m3, "E4M3", 8},  {Number::e5m2, "E5M2", 8},
    {Number::s32, "S32", 32},    {Number::s16, "S16", 16},   {Number::s8, "S8", 8},
    {Number::u8, "U8", 8},       {Number::s4, "S4", 4},      {Number::u4, "U4", 4},
    {Number::u1, "U1", 1},
};
ZELLIGE_ALGEBRA constexpr int bits_of(Number n) {
  for (NumberName const& row : number_names) {
    if (row.number == n) return row.bits;
  }
  return 0;
}

/// re, im and their sum: what three real products make a complex one of.
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
template <Number n>
using number_t = typename detail::number_type<n>::type;
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
