// Compares a result with the reference, element by element and in norm.
//
//   Comparison c = compare(found, expected, DType::f16);
//   if (!c.correct) fmt::print("{}\n", to_string(c));   // relative norm 0.31, worst at (1, 17): found ...,
//   expected ...
//
// A tolerance says how many digits must agree. In norm: ||found - expected|| <= norm * ||expected||. In every element:
// |found - expected| <= max(element * |expected|, row * max(the rms of its row, `floor` of the rms of the tensor)). An infinity
// agrees with itself and a NaN with a NaN; where only one side is one of these, both fail.
//
// A tolerance cannot tell a small element from its negative. The limits can: no |found - expected| may be past an element's limit,
// whatever the tolerance allows. judge.hpp makes them from proved rounding errors (rounding.hpp).
//
// A program that leaves roundings out (left_out.hpp) is compared with what they are left out of, and need not be nearer to it than
// those roundings would take it: ||rounded - expected|| and `spread` times the rms of a row's rounded - expected are added. Where
// only `rounded` is no number (it overflowed), it adds nothing.
//
// What is not correct may still be right: where a formula cancels, or exp takes a large argument, rounding alone moves the
// result further. Given how far it may (rounding.hpp), such a result is `explained`: each |found - expected| is within the
// tolerance or within its error, and what exceeds the errors is small as a whole.
#pragma once
#include <cmath>
#include <limits>

#include "graph/array.hpp"

namespace zellige::graph {

struct Tolerance {
  double norm, element;
  double row = element;  // of what is typical of an element's row
  double floor = 1e-3;
  double step = 0;    // units of the dtype's smallest numbers: no element is held to less
  double unit = 0;    // the greatest relative distance of its other ones: the norm allows one element that
  double spread = 3;  // standard deviations of the roundings that are left out
};

/// The digits that must agree. Integers are compared as they are. e4m3: 8e-3 and 3/2^3; e5m2: 1.6e-2 and 3/2^2; f16: 2.5e-4 and
/// 3/2^10; bf16: 2e-3 and 3/2^7; f32: 3e-6 and 3e-5, and a floor of 1e-2: sums of terms as large as the tensor's elements are no
/// better than a few units of float32's last place at that size.
Tolerance tolerance(DType);

/// What a right result keeps to unless a formula is ill-conditioned: the same digits of each element by itself, and of its row
/// no more than f32's share, with five standard deviations of the roundings left out.
Tolerance close_tolerance(DType);

/// What the tolerance allows each element.
Array allowances(const Array& expected, const Tolerance&, const Array* rounded = nullptr);

/// |a - b|: 0 where both are the same infinity or both NaN, and infinite where only one of them is.
inline double distance(double a, double b) {
  if (a == b || (a != a && b != b)) return 0;
  const double d = std::fabs(a - b);
  return d == d ? d : std::numeric_limits<double>::infinity();
}

/// What ||found - expected|| may be of ||expected|| where there are so many elements. `norm` is what a share of the elements
/// makes that fall on the other side of a rounding boundary. Where there are few, chance shows: that share, three of its
/// standard deviations, and one.
double norm_allowed(const Tolerance&, std::int64_t count);

/// Sums of squares, and of how many elements: those of parts of a tensor add up to the whole's.
struct Norms {
  double difference = 0, expected = 0;
  double left_out = 0;  // by the roundings that were
  std::int64_t count = 0;

  Norms& operator+=(const Norms& other) {
    difference += other.difference, expected += other.expected, left_out += other.left_out,
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
  double worst = 0;  // the greatest |found - expected| as a multiple of what is allowed; infinite for one NaN
  Shape at;          // where that is
  double found = 0, expected = 0, allowed = 0;
  std::int64_t wrong = 0;  // how many elements are past what is allowed or past their limit
  bool explained = false;  // not correct, and rounding alone explains it
  double of_error =
      0;  // the greatest |found - expected| among those elements as a multiple of what rounding explains
  double error = 0;      // what it explains at `at`
  bool limited = false;  // an element is past its limit, or what the judge says of them together:
  std::string as_a_whole{};
};

/// Throws Error if the shapes differ. `errors`: how far rounding alone may move each element; nullptr: nobody has found out.
/// `rounded`: `expected` with all roundings that were asked for; nullptr: it has them. `limits`: by element; nullptr: none.
Comparison compare(const Array& found, const Array& expected, const Tolerance&, const Array* errors = nullptr,
                   const Array* rounded = nullptr, const Array* limits = nullptr);
inline Comparison compare(const Array& found, const Array& expected, DType dtype,
                          const Array* errors = nullptr, const Array* rounded = nullptr,
                          const Array* limits = nullptr) {
  return compare(found, expected, tolerance(dtype), errors, rounded, limits);
}

std::string to_string(const Comparison&);

}  // namespace zellige::graph
