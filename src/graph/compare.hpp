// Compares a result with the reference, element by element and in norm.
//
//   Comparison c = compare(found, expected, DType::f16);
//   if (!c.correct) fmt::print("{}\n", to_string(c));  // relative norm 0.31, worst at (1, 17): ...
//
// A tolerance is the number of digits that must agree. In norm: ||found - expected|| <= norm * ||expected||.
// In every element: |found - expected| <= max(element * |expected|, row * max(rms of its row, `floor` * rms
// of the tensor)). An infinity equals itself and NaN equals NaN; any other pair with one of them fails.
//
// A tolerance cannot distinguish a small element from its negative. Limits can: no |found - expected| may
// exceed its element's limit, whatever the tolerance allows. judge.hpp derives limits from proved rounding
// errors (rounding.hpp).
//
// A program that omits roundings (omit_roundings.hpp) is compared with the unrounded values, and is allowed the
// distance of those roundings: ||rounded - expected|| in norm, and `spread` times the rms of a row's rounded
// - expected per element. Where only `rounded` is not finite (it overflowed), it adds nothing.
//
// An incorrect result may still be right: if a formula cancels, or exp takes a large argument, rounding alone
// moves the result further. Given rounding errors (rounding.hpp), such a result is `explained` if each |found
// - expected| is within the tolerance or within its error, and the total excess over the errors is small.
#pragma once
#include <cmath>
#include <limits>

#include "graph/array.hpp"

namespace zellige::graph {

struct Tolerance {
  double norm, element;
  double row = element;  // relative to the typical magnitude of the element's row
  double floor = 1e-3;
  double step = 0;  // smallest allowance of an element, in units of the dtype's smallest positive number
  // largest relative spacing of its other numbers: the norm allows one element to be off by that
  double unit = 0;
  double spread = 3;  // standard deviations of the omitted roundings
};

/// The default tolerance, as `row` and `element`. Integers must be equal. e4m3: 8e-3 and 3/2^3; e5m2: 1.6e-2
/// and 3/2^2; f16: 2.5e-4 and 3/2^10; bf16: 2e-3 and 3/2^7; f32: 3e-6 and 3e-5, with floor 1e-2: sums of
/// terms as large as the tensor's elements are accurate to a few float32 ulps of that size.
Tolerance tolerance(DType);

/// The tolerance that a right result satisfies unless the formula is ill-conditioned: the same digits per
/// element, but relative to the row only f32's share, with five standard deviations of the omitted roundings.
Tolerance close_tolerance(DType);

/// The allowance of each element under the tolerance.
Array allowances(const Array& expected, const Tolerance&, const Array* rounded = nullptr);

/// |a - b|: 0 if both are the same infinity or both NaN, infinite if only one of them is.
inline double distance(double a, double b) {
  if (a == b || (a != a && b != b)) return 0;
  const double d = std::fabs(a - b);
  return d == d ? d : std::numeric_limits<double>::infinity();
}

/// Largest ||found - expected|| / ||expected|| that is allowed for `count` elements. `norm` corresponds to
/// the share of elements that fall on the other side of a rounding boundary. For few elements the bound adds
/// three standard deviations of that share, and one element.
double norm_allowed(const Tolerance&, std::int64_t count);

/// Sums of squares with the number of elements; the norms of a tensor's parts add up to the whole's.
struct Norms {
  double difference = 0, expected = 0;
  double omitted = 0;  // of the omitted roundings
  std::int64_t count = 0;

  Norms& operator+=(const Norms& other) {
    difference += other.difference, expected += other.expected, omitted += other.omitted,
        count += other.count;
    return *this;
  }
  double relative() const;
  bool within(const Tolerance&) const;
};

struct Comparison {
  bool correct = false;
  Norms norms{};
  double norm_error = 0;  // ||found - expected|| / ||expected||
  double worst = 0;       // largest |found - expected| relative to its allowance; infinite for a NaN
  Shape at;               // position of `worst`
  double found = 0, expected = 0, allowed = 0;
  std::int64_t wrong = 0;  // number of elements beyond their allowance or their limit
  bool explained = false;  // not correct, but rounding alone explains it
  // largest |found - expected| of the wrong elements, relative to the error that rounding explains
  double of_error = 0;
  double error = 0;      // the explained error at `at`
  bool limited = false;  // an element exceeds its limit, or the judge's verdict on all of them:
  std::string as_a_whole{};
};

/// Throws Error if the shapes differ. `errors`: how far rounding alone may move each element; nullptr: not
/// computed. `rounded`: `expected` with all requested roundings; nullptr: `expected` has them. `limits`: per
/// element; nullptr: none.
Comparison compare(const Array& found, const Array& expected, const Tolerance&, const Array* errors = nullptr,
                   const Array* rounded = nullptr, const Array* limits = nullptr);
inline Comparison compare(const Array& found, const Array& expected, DType dtype,
                          const Array* errors = nullptr, const Array* rounded = nullptr,
                          const Array* limits = nullptr) {
  return compare(found, expected, tolerance(dtype), errors, rounded, limits);
}

std::string to_string(const Comparison&);

}  // namespace zellige::graph
