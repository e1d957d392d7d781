// Converts float64 values to the storage types and back. Rounds to nearest, ties to even, directly from
// float64, so that nothing is rounded twice.
//
//   round_to(DType::f16, 65520.0)   // infinity, as in IEEE 754;  round_to(DType::f16, 1.0 + 0x1p-11) == 1.0
//   round_to(DType::e4m3, 465.0)    // NaN: e4m3 has no infinity;  464 is a tie and rounds to 448
//   round_to(DType::int8, -1.5)     // -1: conversion to an integer truncates, as in PyTorch
//   to_bits(DType::bf16, 1.0)       // 0x3f80
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "graph/graph.hpp"

namespace zellige::graph {

/// A number format, float64 or a narrower one.
struct Format {
  int mantissa;  // stored bits
  double min_normal;
  double greatest;                                            // largest finite number
  double overflow = std::numeric_limits<double>::infinity();  // result of rounding a larger number
  int integer_bits = 0;  // width of an integer, 1 of a bool; 0: a binary floating-point format
  double lowest = -greatest;
};

/// A row of the table of element types.
struct DTypeRow {
  std::string_view name;
  int bits;  // size of an element
  Format format;
};
inline constexpr DTypeRow dtype_rows[] = {
    // in the order of DType
    {"f16", 16, {10, 0x1p-14, 65504.0}},
    {"bf16", 16, {7, 0x1p-126, 0x1.fep127}},
    {"f32", 32, {23, 0x1p-126, 0x1.fffffep127}},
    {"e4m3", 8, {3, 0x1p-6, 448.0, std::numeric_limits<double>::quiet_NaN()}},
    {"e5m2", 8, {2, 0x1p-14, 57344.0}},
    {"int8", 8, {.mantissa = 7, .min_normal = 1, .greatest = 127, .integer_bits = 8, .lowest = -128}},
    {"int32", 32, {.mantissa = 31, .min_normal = 1, .greatest = 0x1p31 - 1, .integer_bits = 32, .lowest = -0x1p31}},
    {"bool", 8, {.mantissa = 1, .min_normal = 1, .greatest = 1, .integer_bits = 1, .lowest = 0}},
    {"uint8", 8, {.mantissa = 8, .min_normal = 1, .greatest = 255, .integer_bits = 8, .lowest = 0}},
    {"int16", 16, {.mantissa = 15, .min_normal = 1, .greatest = 32767, .integer_bits = 16, .lowest = -32768}},
    // the greatest int64 that a float64 holds
    {"int64", 64, {.mantissa = 52, .min_normal = 1, .greatest = 0x1p63 - 1024, .integer_bits = 64, .lowest = -0x1p63}},
    {"int4", 4, {.mantissa = 3, .min_normal = 1, .greatest = 7, .integer_bits = 4, .lowest = -8}},
    {"uint4", 4, {.mantissa = 4, .min_normal = 1, .greatest = 15, .integer_bits = 4, .lowest = 0}},
    {"e2m1", 4, {1, 1.0, 6.0, 6.0}},
    {"e8m0",
     8,
     {.mantissa = 0,
      .min_normal = 0x1p-127,
      .greatest = 0x1p127,
      .overflow = std::numeric_limits<double>::quiet_NaN(),
      .lowest = 0x1p-127}},
    {"f64", 64, {52, 0x1p-1022, std::numeric_limits<double>::max()}},
};
constexpr const DTypeRow& row(DType dtype) { return dtype_rows[static_cast<std::size_t>(dtype)]; }
constexpr const Format& format(DType dtype) { return row(dtype).format; }

/// Returns the low bits of an integer, as many as the format has, interpreted in two's complement if it has negative
/// numbers. Of a bool, returns whether the integer is not 0.
inline double wrapped(std::int64_t x, const Format& f) {
  switch (f.integer_bits) {
    case 1:
      return x != 0;
    case 4:
      return static_cast<double>(f.lowest < 0 ? ((x & 15) ^ 8) - 8 : x & 15);
    case 8:
      return f.lowest < 0 ? static_cast<std::int8_t>(x) : static_cast<std::uint8_t>(x);
    case 16:
      return static_cast<std::int16_t>(x);
    case 64:
      return std::min(static_cast<double>(x), f.greatest);  // 2^63 - 1 becomes no 2^63
    default:
      return static_cast<std::int32_t>(x);
  }
}

/// Converts to an integer format, rounding toward zero; to a bool, whether x is not 0. For a number out of range, where
/// PyTorch leaves the result undefined, returns what a GPU computes: int32 and int64 saturate, NaN becomes 0, and
/// narrower integers are the low bits of the int32.
inline double to_integer(const Format& f, double x) {
  if (f.integer_bits == 1) return x != 0;
  const double whole = x < 0 ? std::ceil(x) : std::floor(x);
  const bool wide = f.integer_bits == 64;
  const double low = wide ? -0x1p63 : -0x1p31, high = wide ? 0x1p63 - 1024 : 0x1p31 - 1;
  const double narrow = whole < low ? low : whole > high ? high : whole;
  return x != x ? 0 : wrapped(static_cast<std::int64_t>(narrow), f);
}

/// Returns the value of a floating-point format that is nearest to x, ties to even. Branch-free, so that
/// loops over arrays vectorize.
inline double round_to_float(const Format& f, double x) {
  const int drop = 52 - f.mantissa;
  if (drop == 0) return x;  // float64
  const std::uint64_t half = (std::uint64_t{1} << (drop - 1)) - 1, bits = std::bit_cast<std::uint64_t>(x);
  const double normal = std::bit_cast<double>((bits + half + ((bits >> drop) & 1)) & ~((std::uint64_t{1} << drop) - 1));
  // Below the smallest normal number the spacing is constant. Adding and subtracting a number whose last bit
  // has that weight rounds to the spacing.
  const double pin = f.min_normal * 0x1.8p52 / static_cast<double>(std::uint64_t{1} << f.mantissa);
  const double magnitude = std::fabs(x);
  const double tiny = std::copysign((magnitude + pin) - pin, x);
  double y = magnitude < f.min_normal ? tiny : normal;
  y = std::fabs(y) > f.greatest ? std::copysign(f.overflow, x) : y;
  return x == x ? y : x;
}

/// Returns x rounded to a format: floating-point formats to nearest, integers toward zero. A format without sign and zero
/// has its smallest number for all that is below it.
inline double round_to(const Format& f, double x) {
  if (f.integer_bits) return to_integer(f, x);
  return round_to_float(f, f.lowest > 0 && x < f.lowest ? f.lowest : x);
}
inline double round_to(DType dtype, double x) { return round_to(format(dtype), x); }
/// Rounds `count` values to the dtype, in place.
void round_to(DType dtype, double* values, std::int64_t count);

/// Returns x rounded to tf32 (10 bits of mantissa), to nearest, ties away from zero, like PTX cvt.rna. A
/// matmul with the attribute `tf32` rounds its f32 operands in this way.
inline double round_to_tf32(double x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  if ((bits & 0x7f800000) == 0x7f800000) return x;  // an infinity or a NaN
  return std::bit_cast<float>((bits + 0x1000) & 0xffffe000);
}

/// Converts a floating-point number to the dtype in the attributes, as the operator `cast` does. Saturates to
/// the dtype's finite range if the attribute `saturate` is set. `from`: the number's dtype; like PyTorch, converts an f64
/// to float32 first if the dtype is a narrower floating-point one.
double cast_number(double x, const Attributes&, DType from = DType::f32);
/// Converts an integer to the dtype in the attributes, as the operator `cast` does. For a floating-point dtype other
/// than f64, converts to float32 first, like PyTorch; to a narrower integer, keeps the lower bits.
double cast_integer(double x, const Attributes&);

/// Returns the bits that store a value in memory, after rounding it to the dtype. For a dtype of 8 or 16
/// bits, they are the low bits of the result. An int64 beyond 2^53 loses its lower bits in a float64.
std::uint64_t to_bits(DType, double);
/// Returns the value of stored bits; inverse of to_bits().
double from_bits(DType, std::uint64_t);

}  // namespace zellige::graph
