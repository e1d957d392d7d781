// Finds the fraction that a scalar of a graph represents: the simplest one that rounds to the scalar. So 0.1
// is a tenth and 0.000244140625 is 1/4096, and a mean over 4096 and a sum times 1/4096 are the same.
//
//   fraction(0.1)           // {1, 10, 0}: 1/10 * 2^0
//   fraction(1.1e-300)      // no short fraction rounds to it: the double itself, as numerator/1 * 2^exponent
#pragma once
#include <bit>
#include <cstdint>

namespace zellige::number {

/// The number numerator / denominator * 2^exponent.
struct Fraction {
  std::int64_t numerator = 0, denominator = 1;
  int exponent = 0;

  /// Returns whether the number is exact in binary: its denominator is a power of two.
  bool dyadic() const { return std::has_single_bit(static_cast<std::uint64_t>(denominator)); }
};

/// Returns the simplest fraction that rounds to `x`, or `x` itself if no fraction with numerator and
/// denominator of at most 2^24 does. `x` must be finite.
Fraction fraction(double x);

/// Returns the number with which a graph compares, given the scalar that says it. That is the scalar if it is a short
/// fraction, as 0.1 is a tenth. It is the nearest float32 if it has more digits than float32, such as 1e30, because no
/// float32 equals the scalar.
double compared_scalar(double x);

/// Returns whether one of two numbers is an end of float32's range, and the other is such an end, or lies beyond it on the
/// same side of 0.
bool at_ends_of_range(double x, double y);
/// Returns whether the order of two numbers that differ is not that of real numbers, because at_ends_of_range() is true of
/// them: the end means an infinity, or 0.
template <class Number>
bool beyond_range(const Number& x, const Number& y) {
  return x != y && at_ends_of_range(static_cast<double>(x), static_cast<double>(y));
}

}  // namespace zellige::number
