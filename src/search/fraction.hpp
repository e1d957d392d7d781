// Finds the number that a scalar of a graph represents: the simplest fraction that rounds to it. 0.1 is a
// tenth, and 0.000244140625 is 1/4096, so that a mean over 4096 and a sum times 1/4096 are the same.
//
//   fraction(0.1)           // {1, 10, 0}
//   fraction(1.1e-300)      // no short fraction rounds to it: its own digits, numerator 2^exponent
#pragma once
#include <bit>
#include <cstdint>

namespace zellige::search {

/// numerator / denominator 2^exponent.
struct Fraction {
  std::int64_t numerator = 0, denominator = 1;
  int exponent = 0;

  /// Returns whether it is exact in binary.
  bool dyadic() const { return std::has_single_bit(static_cast<std::uint64_t>(denominator)); }
};

/// `x` must be finite.
Fraction fraction(double x);

}  // namespace zellige::search
