#include "graph/dtype.hpp"

namespace zellige::graph {
namespace {

/// f16 is the one format whose exponents are not float32's.
std::uint32_t half_bits(double x) {
  const std::uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(x);
  if (std::isnan(x)) return sign | 0x7e00;
  if (std::isinf(x)) return sign | 0x7c00;
  if (magnitude < 0x1p-14) return sign | static_cast<std::uint32_t>(magnitude * 0x1p24);
  int exponent;
  const double fraction = std::frexp(magnitude, &exponent);  // in [1/2, 1)
  return sign | (static_cast<std::uint32_t>(exponent + 14) << 10 |
                 (static_cast<std::uint32_t>(fraction * 0x1p11) & 0x3ff));
}

double from_half(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const double fraction = bits & 0x3ff;
  double magnitude = exponent == 0 ? fraction * 0x1p-24 : std::ldexp(fraction + 0x400, exponent - 25);
  if (exponent == 31)
    magnitude =
        fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return bits & 0x8000 ? -magnitude : magnitude;
}

}  // namespace

void round_to(DType dtype, double* values, std::int64_t count) {
  const Format f = format(dtype);
  for (std::int64_t i = 0; i < count; ++i) values[i] = round_to(f, values[i]);
}

std::uint32_t to_bits(DType dtype, double x) {
  const double y = round_to(dtype, x);
  if (dtype == DType::f16) return half_bits(y);
  const std::uint32_t wide = std::bit_cast<std::uint32_t>(static_cast<float>(y));
  return dtype == DType::f32 ? wide : wide >> 16;
}

double from_bits(DType dtype, std::uint32_t bits) {
  if (dtype == DType::f16) return from_half(bits & 0xffff);
  return std::bit_cast<float>(dtype == DType::f32 ? bits : bits << 16);
}

}  // namespace zellige::graph
