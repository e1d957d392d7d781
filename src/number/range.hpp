// The ends of float32's range: as a bound or in a comparison they mean infinity and 0 (equal.hpp).
#pragma once
#include <cfloat>
#include <cmath>

namespace zellige::number {

/// Returns whether one of two numbers that differ is an end of float32's range, and the other is such an end, or lies
/// beyond it on the same side of 0. Their order is then not that of real numbers: the end means an infinity, or 0.
inline bool beyond_range(double x, double y) {
  constexpr double infinity = 3.5e38;  // FLT_MAX in a few digits is below
  if ((x > 0) != (y > 0) || x == 0 || y == 0 || std::isinf(x) || std::isinf(y)) return false;
  const double a = std::fabs(x), b = std::fabs(y);
  const auto large = [](double end, double other) { return end >= FLT_MAX && end <= infinity && other >= FLT_MAX; };
  return large(a, b) || large(b, a) || (a <= FLT_MIN && b <= FLT_MIN);
}

}  // namespace zellige::number
