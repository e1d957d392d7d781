#include "graph/dtype.hpp"

namespace zellige::graph {
namespace {

/// Returns the bits of an f16 value. `x` must be representable.
std::uint32_t half_bits(double x) {
  const std::uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  const double magnitude = std::fabs(x);
  if (std::isnan(x)) return sign | 0x7e00;
  if (std::isinf(x)) return sign | 0x7c00;
  if (magnitude < 0x1p-14) return sign | static_cast<std::uint32_t>(magnitude * 0x1p24);
  int exponent;
  const double fraction = std::frexp(magnitude, &exponent);  // in [1/2, 1)
  return sign |
         (static_cast<std::uint32_t>(exponent + 14) << 10 | (static_cast<std::uint32_t>(fraction * 0x1p11) & 0x3ff));
}

/// Returns the value of f16 bits.
double from_half(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const double fraction = bits & 0x3ff;
  double magnitude = exponent == 0 ? fraction * 0x1p-24 : std::ldexp(fraction + 0x400, exponent - 25);
  if (exponent == 31)
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Returns the bits of an e4m3 value; `x` must be representable. The smallest normal exponent of e4m3 is -6,
/// and its largest exponent has a NaN in place of infinity.
std::uint32_t e4m3_bits(double x) {
  const std::uint32_t sign = std::signbit(x) ? 0x80 : 0;
  const double magnitude = std::fabs(x);
  if (std::isnan(x)) return 0x7f;  // 0xff marks memory that was never written
  if (magnitude < 0x1p-6) return sign | static_cast<std::uint32_t>(magnitude * 0x1p9);
  int exponent;
  const double fraction = std::frexp(magnitude, &exponent);  // in [1/2, 1)
  return sign | (static_cast<std::uint32_t>(exponent + 6) << 3 | (static_cast<std::uint32_t>(fraction * 0x1p4) & 7));
}

/// Returns the value of e4m3 bits.
double from_e4m3(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 3 & 0xf);
  const double fraction = bits & 7;
  if ((bits & 0x7f) == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude = exponent == 0 ? fraction * 0x1p-9 : std::ldexp(fraction + 8, exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

double within(double x, double minimum, double greatest) {
  return x < minimum ? minimum : x > greatest ? greatest : x;  // a NaN remains NaN
}

}  // namespace

double cast_number(double x, const Attributes& a) {
  const Format f = format(a.dtype);
  if (!a.saturate) return round_to(f, x);
  return round_to(f, within(x, f.integer_bits ? -f.greatest - 1 : -f.greatest, f.greatest));
}

double cast_integer(double x, const Attributes& a) {
  return cast_number(is_integer(a.dtype) ? x : round_to(DType::f32, x), a);
}

void round_to(DType dtype, double* values, std::int64_t count) {
  const Format f = format(dtype);
  if (f.integer_bits)
    for (std::int64_t i = 0; i < count; ++i) values[i] = to_integer(f.integer_bits, values[i]);
  else
    for (std::int64_t i = 0; i < count; ++i) values[i] = round_to_float(f, values[i]);
}

std::uint32_t to_bits(DType dtype, double x) {
  const double y = round_to(dtype, x);
  if (dtype == DType::f16) return half_bits(y);
  if (dtype == DType::e4m3) return e4m3_bits(y);
  if (dtype == DType::e5m2) return y != y ? 0x7f : half_bits(y) >> 8;
  if (is_integer(dtype))
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(y)) & (dtype == DType::int8 ? 0xff : ~0u);
  const std::uint32_t wide = std::bit_cast<std::uint32_t>(static_cast<float>(y));
  return dtype == DType::f32 ? wide : wide >> 16;
}

double from_bits(DType dtype, std::uint32_t bits) {
  if (dtype == DType::f16) return from_half(bits & 0xffff);
  if (dtype == DType::e4m3) return from_e4m3(bits & 0xff);
  if (dtype == DType::e5m2) return from_half((bits & 0xff) << 8);
  if (is_integer(dtype)) return wrapped(bits, graph::bits(dtype));
  return std::bit_cast<float>(dtype == DType::f32 ? bits : bits << 16);
}

}  // namespace zellige::graph
