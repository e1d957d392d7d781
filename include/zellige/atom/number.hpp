// Defines the enum Number of the element types of matrix instructions, with each type's name in CuTe's instruction
// names and its size. number_type.hpp maps Number to C++ types.
//
//   bits_of(Number::bf16)              16
#pragma once

#include <zellige/layout/config.hpp>

namespace zellige {

enum class Number : signed char {
  none,
  f16,
  bf16,
  tf32,
  f32,
  f64,
  c64,   // a complex number of two f64
  gc64,  // the three accumulators of Gauss's complex multiplication
  e4m3,
  e5m2,
  e3m2,
  e2m3,
  e2m1,
  ue8m0,  // a power of two: the scale of a block
  ue4m3,  // e4m3 without a sign: the scale of a block
  s32,
  s16,
  s8,
  u8,
  s4,
  u4,
  u1,
};

/// A number type's name in CuTe's instruction names, such as "BF16", and its size in bits.
struct NumberName {
  Number number;
  char const* name;
  short bits;
};
inline constexpr NumberName number_names[] = {
    {Number::f16, "F16", 16},    {Number::bf16, "BF16", 16}, {Number::tf32, "TF32", 32},  {Number::f32, "F32", 32},
    {Number::f64, "F64", 64},    {Number::c64, "C64", 128},  {Number::gc64, "GC64", 192}, {Number::e4m3, "E4M3", 8},
    {Number::e5m2, "E5M2", 8},   {Number::e3m2, "E3M2", 6},  {Number::e2m3, "E2M3", 6},   {Number::e2m1, "E2M1", 4},
    {Number::s32, "S32", 32},    {Number::s16, "S16", 16},   {Number::s8, "S8", 8},       {Number::u8, "U8", 8},
    {Number::s4, "S4", 4},       {Number::u4, "U4", 4},      {Number::u1, "U1", 1},       {Number::ue8m0, "UE8M0", 8},
    {Number::ue4m3, "UE4M3", 8},
};
/// Returns the size in bits of a number of type n, or 0 for Number::none.
ZELLIGE_ALGEBRA constexpr int bits_of(Number n) {
  for (NumberName const& row : number_names) {
    if (row.number == n) return row.bits;
  }
  return 0;
}

}  // namespace zellige
