// Converts float64 values to the storage types and back. Rounds to nearest, ties to even, directly from
// float64, so that nothing is rounded twice.
//
//   round_to(DType::f16, 65520.0)   // infinity, as in IEEE 754;  round_to(DType::f16, 1.0 + 0x1p-11) == 1.0
//   round_to(DType::e4m3, 465.0)    // NaN: e4m3 has no infinity;  464 is a tie and rounds to 448
//   round_to(DType::int8, -1.5)     // -1: conversion to an integer truncates, as in PyTorch
//   to_bits(DType::bf16, 1.0)       // 0x3f80
#pragma once
#include <bit>
#include <cmath>

#include "graph/graph.hpp"

namespace zellige::graph {

/// A number format narrower than float64.
struct Format {
  int mantissa;  // stored bits
  double min_normal;
  double greatest;                                            // largest finite number
  double overflow = std::numeric_limits<double>::infinity();  // result of rounding a larger number
  int integer_bits = 0;                                       // width of an integer; 0: a binary floating-point format
  bool is_signed = true;                                      // false: no number is below 0
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
    {"int8", 8, {.mantissa = 7, .min_normal = 1, .greatest = 127, .integer_bits = 8}},
    {"int32", 32, {.mantissa = 31, .min_normal = 1, .greatest = 2147483647, .integer_bits = 32}},
    {"int4", 4, {.mantissa = 3, .min_normal = 1, .greatest = 7, .integer_bits = 4}},
    {"uint4", 4, {.mantissa = 4, .min_normal = 1, .greatest = 15, .integer_bits = 4, .is_signed = false}},
    {"e2m1", 4, {1, 1.0, 6.0, 6.0}},
    {"e8m0", 8, {0, 0x1p-127, 0x1p127, std::numeric_limits<double>::quiet_NaN(), 0, false}},
};
constexpr const DTypeRow& row(DType dtype) { return dtype_rows[static_cast<std::size_t>(dtype)]; }
constexpr const Format& format(DType dtype) { return row(dtype).format; }

/// Returns the low `bits` bits of an integer, interpreted in two's complement. `bits` is 4, 8 or 32.
inline double wrapped(std::int64_t x, int bits) {
  if (bits == 4) return static_cast<double>(((x & 15) ^ 8) - 8);
  return bits == 8 ? static_cast<std::int8_t>(x) : static_cast<std::int32_t>(x);
}
/// Returns the integer that is stored in the low bits of x in an integer format.
inline double wrapped(const Format& f, std::int64_t x) {
  return f.is_signed ? wrapped(x, f.integer_bits) : static_cast<double>(x & ((std::int64_t{1} << f.integer_bits) - 1));
}

/// Converts to an integer of 4, 8 or 32 bits, rounding toward zero. For a number out of range, where PyTorch
/// leaves the result undefined, returns what a GPU computes: int32 saturates, NaN becomes 0, and a narrower integer
/// is the low bits of the int32.
inline double to_integer(const Format& f, double x) {
  const double whole = x < 0 ? std::ceil(x) : std::floor(x);
  const double narrow = whole < -2147483648.0 ? -2147483648.0 : whole > 2147483647.0 ? 2147483647.0 : whole;
  return x != x ? 0 : wrapped(f, static_cast<std::int64_t>(narrow));
}

/// Returns the value of a floating-point format that is nearest to x, ties to even. Branch-free, so that
/// loops over arrays vectorize.
inline double round_to_float(const Format& f, double x) {
  const int drop = 52 - f.mantissa;
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
  return round_to_float(f, !f.is_signed && x < f.min_normal ? f.min_normal : x);
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
/// the dtype's finite range if the attribute `saturate` is set.
double cast_number(double x, const Attributes&);
/// Converts an integer to the dtype in the attributes, as the operator `cast` does. For a floating-point
/// dtype, converts to float32 first, like PyTorch.
double cast_integer(double x, const Attributes&);

/// Returns the bits that store a value in memory, after rounding it to the dtype. For a dtype of 8 or 16
/// bits, they are the low bits of the result.
std::uint32_t to_bits(DType, double);
/// Returns the value of stored bits; inverse of to_bits().
double from_bits(DType, std::uint32_t);

}  // namespace zellige::graph
