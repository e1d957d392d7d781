// A value of a random finite field (field.hpp).
#pragma once
#include <cstdint>
#include <limits>

#include "number/sets.hpp"

namespace zellige::number {

/// A value in a finite field, with what is known of the real number that it represents.
struct FieldNumber {
  enum class Kind : std::uint8_t { number, nan, plus, minus, unclear, missing };
  // Value of q for the result of an exponential, which has no residue modulo q.
  static constexpr std::uint64_t absent = ~std::uint64_t{0};
  static constexpr std::uint64_t rootless = absent - 1;  // value of q if a root does not exist modulo q
  static constexpr std::uint8_t below = 1, zero = 2, above = 4, anything = 7;  // possible signs, as bits

  static constexpr double unlimited = std::numeric_limits<double>::infinity();

  std::uint64_t p = 0, q = 0;             // residues modulo the two primes
  float numerator = 0, denominator = 0;   // upper bounds of the degrees of the value as a rational function
  float signs = 0, sign_denominator = 0;  // the same, in the outcomes of comparisons
  Sets::Index domain = Sets::empty;       // set of conditions under which it is not NaN
  Sets::Index decisions = Sets::empty;    // set of comparisons and drawn integers that it depends on
  // The sign of the zeros that it takes: 1 for +0, p - 1 for -0, or a product of factors of unknown sign.
  std::uint64_t zero_sign = 1;
  // Its sign is that of slope * x + shift, where x is the number whose residue modulo p is `base`; 0: nothing is known.
  // With `line`, it is that number.
  std::uint64_t base = 0;
  double slope = 0, shift = 0;
  bool line = false;
  double lowest = -unlimited, greatest = unlimited;  // bounds of the real number
  // Index of the sum of logarithms that it contains (log_sums_); 0: none.
  std::uint32_t logs = 0;
  Kind kind = Kind::number;
  std::uint8_t may = anything;  // its possible signs
  bool constant = false;        // a constant, whose real value is known
  bool unsettled = false;       // depends on a maximum, comparison or cast that this field leaves open
  bool vanishes = false;        // may be 0 on more than a few points, although its residues are not
  bool fragile = false;         // may be infinite: equal only to what was computed in the same way
  bool boolean = false;         // its value is 0 or 1
  bool whole = false;           // its value is an integer
  bool graded = false;          // depends on an exponential
  bool hashed = false;          // its residue modulo q is made of random numbers
  bool rooted = false;          // depends on a root, whose sign may differ between the two residues

  /// Returns whether it is a positive number everywhere, and no constant: products with it keep their sign.
  bool positive_factor() const { return kind == Kind::number && may == above && !constant && !fragile && !vanishes; }

  /// Returns this value with another kind.
  FieldNumber as(Kind k) const {
    FieldNumber z = *this;
    z.kind = k;
    return z;
  }
};

}  // namespace zellige::number
