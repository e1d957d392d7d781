// Rounding to the storage types: nearest, ties to even, straight from float64, so that nothing is rounded
// twice.
//
//   round_to(DType::f16, 65520.0)   // infinity, as in IEEE 754;  round_to(DType::f16, 1.0 + 0x1p-11) == 1.0
//   to_bits(DType::bf16, 1.0)       // 0x3f80
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "graph/graph.hpp"

namespace zellige::graph {

/// A binary floating-point format narrower than float64.
struct Format {
  int mantissa;  // stored bits
  double least_normal;
  double greatest;  // finite
};

constexpr Format format(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {10, 0x1p-14, 65504.0};
    case DType::bf16:
      return {7, 0x1p-126, 0x1.fep127};
    default:
      return {23, 0x1p-126, 0x1.fffffep127};
  }
}

/// The nearest value of the format; written without branches so that loops over arrays vectorise.
inline double round_to(const Format& f, double x) {
  const int drop = 52 - f.mantissa;
  const std::uint64_t half = (std::uint64_t{1} << (drop - 1)) - 1, bits = std::bit_cast<std::uint64_t>(x);
  const double normal =
      std::bit_cast<double>((bits + half + ((bits >> drop) & 1)) & ~((std::uint64_t{1} << drop) - 1));
  // Below the least normal the spacing is fixed: adding a number whose last place has that weight rounds to
  // it.
  const double pin = f.least_normal * 0x1.8p52 / static_cast<double>(std::uint64_t{1} << f.mantissa);
  const double magnitude = std::fabs(x);
  const double tiny = std::copysign((magnitude + pin) - pin, x);
  double y = magnitude < f.least_normal ? tiny : normal;
  y = std::fabs(y) > f.greatest ? std::copysign(std::numeric_limits<double>::infinity(), x) : y;
  return x == x ? y : x;
}

inline double round_to(DType dtype, double x) { return round_to(format(dtype), x); }
void round_to(DType dtype, double* values, std::int64_t count);

/// The stored bits of a value, rounded first; and back. f16 and bf16 use the low 16 bits.
std::uint32_t to_bits(DType, double);
double from_bits(DType, std::uint32_t);

}  // namespace zellige::graph
