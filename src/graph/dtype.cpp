#include "graph/dtype.hpp"

#include <algorithm>

namespace zellige::graph {
namespace {

constexpr int e8m0_bias = 127;  // an e8m0 is the power of two with this exponent less the bias

/// Returns the bits of x in a floating-point format of `bits` bits, which must be able to represent x. A NaN of 8 bits
/// is positive: 0xff marks memory that was never written.
std::uint32_t encoded(const Format& f, int bits, double x) {
  const std::uint32_t sign = std::signbit(x) ? 1u << (bits - 1) : 0, one = 1u << f.mantissa;  // one: 1 in the exponent
  const std::uint32_t infinite = (1u << (bits - 1)) - one;
  const double magnitude = std::fabs(x);
  if (std::isnan(x)) return bits == 8 ? 0x7f : sign | infinite | one / 2;
  if (std::isinf(x)) return sign | infinite;
  if (magnitude < f.min_normal) return sign | static_cast<std::uint32_t>(magnitude / f.min_normal * one);
  int exponent, min_exponent;
  const double fraction = std::frexp(magnitude, &exponent);  // in [1/2, 1)
  std::frexp(f.min_normal, &min_exponent);
  return sign | ((exponent - min_exponent) * one + static_cast<std::uint32_t>(fraction * 2 * one));
}

/// Returns the value of `bits` bits in a floating-point format. The greatest exponent of e4m3 is of numbers, except for
/// one NaN, that of e2m1 of numbers alone; that of other formats is of infinity and NaN.
double decoded(const Format& f, int bits, std::uint32_t x) {
  const std::uint32_t one = 1u << f.mantissa, infinite = (1u << (bits - 1)) - one, fraction = x & (one - 1);
  const int exponent = static_cast<int>((x & infinite) >> f.mantissa);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(f.overflow) && (x & infinite) == infinite && fraction == one - 1) return nan;
  double magnitude =
      exponent == 0 ? fraction * f.min_normal / one : std::ldexp((fraction + one) * f.min_normal / one, exponent - 1);
  if (std::isinf(f.overflow) && (x & infinite) == infinite)
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : nan;
  return x >> (bits - 1) ? -magnitude : magnitude;
}

}  // namespace

int bits(DType dtype) { return row(dtype).bits; }

std::int64_t bytes_of(std::int64_t elements, DType dtype) { return (elements * bits(dtype) + 7) / 8; }

int elements_in(std::int64_t bytes, DType dtype) { return static_cast<int>(8 * bytes / bits(dtype)); }

int whole_bytes(DType dtype) {
  if (bits(dtype) % 8 != 0) fault("{} has elements of {} bits, which are no whole bytes", name(dtype), bits(dtype));
  return bits(dtype) / 8;
}

std::string_view name(DType dtype) { return row(dtype).name; }

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  for (std::size_t i = 0; i < std::size(dtype_rows); ++i) all.push_back(static_cast<DType>(i));
  return all;
}

double cast_number(double x, const Attributes& a, DType from) {
  const Format f = format(a.dtype);
  if (from == DType::f64 && is_narrow(a.dtype)) x = round_to(DType::f32, x);
  if (!a.saturate || f.integer_bits == 1) return round_to(f, x);  // any number is a bool
  return round_to(f, std::clamp(x, f.lowest, f.greatest));        // a NaN remains NaN
}

double cast_integer(double x, const Attributes& a) {
  if (!is_integer(a.dtype)) return cast_number(round_to(computed_in(a.dtype), x), a);
  const Format& f = format(a.dtype);
  return a.saturate ? cast_number(x, a) : wrapped(static_cast<std::int64_t>(x), f);
}

void round_to(DType dtype, double* values, std::int64_t count) {
  const Format f = format(dtype);
  if (dtype == DType::f64) return;
  if (f.integer_bits || f.lowest > 0)
    for (std::int64_t i = 0; i < count; ++i) values[i] = round_to(f, values[i]);
  else
    for (std::int64_t i = 0; i < count; ++i) values[i] = round_to_float(f, values[i]);
}

std::uint64_t to_bits(DType dtype, double x) {
  const double y = round_to(dtype, x);
  if (is_integer(dtype))
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(y)) & (~std::uint64_t{0} >> (64 - graph::bits(dtype)));
  if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(y);
  if (dtype == DType::e8m0) return std::isnan(y) ? 0xff : static_cast<std::uint64_t>(std::ilogb(y) + e8m0_bias);
  if (dtype == DType::f32 || dtype == DType::bf16)
    return std::bit_cast<std::uint32_t>(static_cast<float>(y)) >> (32 - graph::bits(dtype));
  return encoded(format(dtype), graph::bits(dtype), y);
}

double from_bits(DType dtype, std::uint64_t all) {
  if (is_integer(dtype)) return wrapped(static_cast<std::int64_t>(all), format(dtype));
  if (dtype == DType::f64) return std::bit_cast<double>(all);
  const auto bits = static_cast<std::uint32_t>(all);
  if (dtype == DType::e8m0) {
    const int exponent = static_cast<int>(bits & 0xff) - e8m0_bias;
    return exponent > e8m0_bias ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, exponent);
  }
  if (dtype == DType::f32 || dtype == DType::bf16) return std::bit_cast<float>(bits << (32 - graph::bits(dtype)));
  return decoded(format(dtype), graph::bits(dtype), bits & ((1u << graph::bits(dtype)) - 1));
}

}  // namespace zellige::graph
