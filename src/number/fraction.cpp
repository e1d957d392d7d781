#include "number/fraction.hpp"

#include <cfloat>
#include <cmath>

namespace zellige::number {

Fraction fraction(double x) {
  int e = 0;
  const double significand = std::frexp(std::fabs(x), &e);  // in [0.5, 1)
  const auto sign = std::signbit(x) ? -1 : 1;
  // The convergents of the continued fraction. Up to this denominator, they include every fraction within
  // half a unit in the last place.
  constexpr double maximum = 1 << 24;
  if (e <= 24 && e >= -24) {
    double h = 1, h1 = 0, k = 0, k1 = 1, rest = std::fabs(x);
    for (int i = 0; i < 32; ++i) {
      const double whole = std::floor(rest), nh = whole * h + h1, nk = whole * k + k1;
      if (nh > maximum || nk > maximum) break;
      h1 = h, k1 = k, h = nh, k = nk;
      if (h / k == std::fabs(x)) return {sign * static_cast<std::int64_t>(h), static_cast<std::int64_t>(k), 0};
      if (rest == whole) break;
      rest = 1 / (rest - whole);
    }
  }
  auto digits = static_cast<std::int64_t>(std::ldexp(significand, 53));
  int exponent = e - 53;
  for (; digits != 0 && digits % 2 == 0; digits /= 2) ++exponent;
  return {sign * digits, 1, digits == 0 ? 0 : exponent};
}

double compared_scalar(double x) {
  if (!std::isfinite(x)) return x;
  const Fraction f = fraction(x);
  const bool is_short = f.exponent == 0 && std::abs(f.numerator) <= 1 << 24;
  return is_short ? x : static_cast<double>(static_cast<float>(x));
}

bool at_ends_of_range(double x, double y) {
  constexpr double infinity = 3.5e38;  // FLT_MAX in a few digits is below
  if ((x > 0) != (y > 0) || x == 0 || y == 0 || std::isinf(x) || std::isinf(y)) return false;
  const double a = std::fabs(x), b = std::fabs(y);
  const auto large = [](double end, double other) { return end >= FLT_MAX && end <= infinity && other >= FLT_MAX; };
  return large(a, b) || large(b, a) || (a <= FLT_MIN && b <= FLT_MIN);
}

}  // namespace zellige::number
