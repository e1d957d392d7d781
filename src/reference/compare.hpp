// Compares a result with the float64 reference, element by element and in norm.
//
//   Comparison c = compare(found, expected, DType::f16);
//   if (!c.correct) fmt::print("{}\n", to_string(c));  // relative norm 0.31, worst at (1, 17): ...
//
// A tolerance says how many digits must agree, in the norm of the tensor and in each element. With `norm`,
// `element`, `row` and `floor` the fields of Tolerance, and rms the root mean square:
//
//   ||found - expected|| <= norm * ||expected||
//   |found - expected| <= max(element * |expected|, row * max(rms of its row, floor * rms of the tensor))
//
// An infinity equals only itself, and a NaN only a NaN.
//
// A tolerance cannot distinguish a small element from its negative. Limits can: if they are given, |found -
// expected| must not exceed the element's limit, whatever the tolerance allows. judge.hpp derives limits from
// proved rounding errors (rounding.hpp).
//
// A fused program may omit intermediate roundings of the graph (omit_roundings.hpp). Its results are compared with
// `expected`, computed without them, and the tolerance grows by their effect. With `rounded` the reference with all
// roundings, the norm may differ by a further ||rounded - expected||, and each element by a further `spread` times the
// rms of rounded - expected over its row. Elements where only `rounded` overflowed add nothing.
//
// A result outside the tolerance may be right nevertheless: if a formula cancels, or exp has a large argument,
// rounding alone moves the result further. Given error bounds (rounding.hpp), such a result is `explained` if
// each |found - expected| is within the tolerance or the element's error bound, and if the norm of all excesses
// over the error bounds is small.
#pragma once
#include <cmath>

#include "reference/array.hpp"

namespace zellige::reference {

/// How far a result may deviate from the reference, relative to the magnitudes in the tensor.
struct Tolerance {
  double norm, element;  // relative deviation of the norm; of one element
  double row = element;  // deviation of an element relative to the rms of its row (last dimension)
  double floor = 1e-3;   // smallest rms of a row that counts, relative to the rms of the tensor
  // smallest allowance of an element: three times the dtype's smallest positive number, or 0
  double step = 0;
  // largest relative spacing of the dtype's numbers; the norm allows one element to be off by as much
  double unit = 0;
  double spread = 3;  // number of standard deviations allowed for omitted roundings
};

/// Returns the default tolerance of a dtype; integers must be equal.
///
///   dtype   norm     element and row
///   f16     2.5e-4   3/2^10
///   bf16    2e-3     3/2^7
///   e4m3    8e-3     3/2^3
///   e5m2    1.6e-2   3/2^2
///   f32     3e-6     3e-5, with floor 1e-2
///   f64     2e-14    2e-13, with floor 1e-2
///
/// f32 has a larger floor than other dtypes, because a sum of terms as large as the tensor's elements is only
/// accurate to a few float32 ulps of such an element.
Tolerance tolerance(graph::DType);

/// Returns the tolerance that a right result satisfies unless the formula is ill-conditioned. An element may
/// deviate by one step of the dtype (at least 3e-5 of its value), or by 3e-5 times the rms of its row.
/// Roundings that a fused program omits may move it by a further five standard deviations of their effect.
Tolerance close_tolerance(graph::DType);

/// Returns how far each element may deviate from `expected` under the tolerance. `rounded`: the reference
/// with all roundings of the graph, if `expected` was computed without some of them; otherwise nullptr.
Array allowances(const Array& expected, const Tolerance&, const Array* rounded = nullptr);

/// Returns |a - b|. Returns 0 if a and b are the same infinity or both NaN, and infinity if only one of the
/// two numbers is infinite or NaN.
inline double distance(double a, double b) {
  if (a == b || (a != a && b != b)) return 0;
  const double d = std::fabs(a - b);
  return d == d ? d : infinity;
}

/// Returns the largest ||found - expected|| / ||expected|| allowed for a tensor of `count` elements. For
/// large tensors, this limit is about Tolerance::norm, which covers the elements that float32 arithmetic puts
/// on the other side of a rounding boundary. For small tensors, in which the share of such elements varies,
/// it is larger: it allows for three standard deviations of this share, and for one more such element.
double norm_allowed(const Tolerance&, std::int64_t count);

/// Sums of squares over a tensor, or over a part of one. Adding the sums of all parts gives those of the tensor.
struct Norms {
  double difference = 0, expected = 0;  // of found - expected, and of expected
  double omitted = 0;                   // of rounded - expected: the effect of the omitted roundings
  std::int64_t count = 0;

  Norms& operator+=(const Norms& other) {
    difference += other.difference, expected += other.expected, omitted += other.omitted, count += other.count;
    return *this;
  }
  /// Returns ||found - expected|| / ||expected||.
  double relative() const;
  /// Returns whether relative() is at most norm_allowed() plus the relative norm of the omitted roundings.
  bool within(const Tolerance&) const;
};

/// Outcome of comparing a result with the reference. `correct` and `explained` decide; the other members say
/// where and by how much the result deviates.
struct Comparison {
  bool correct = false;
  Norms norms{};
  double norm_error = 0;  // ||found - expected|| / ||expected||
  double worst = 0;       // largest |found - expected| relative to its allowance; infinite for a NaN
  graph::Shape at;        // coordinates of the element that is reported
  double found = 0, expected = 0, allowed = 0;  // values and allowance at `at`
  std::int64_t wrong = 0;                       // number of elements beyond their allowance or their limit
  bool explained = false;                       // not correct, but rounding alone explains it
  // largest |found - expected| of the elements outside the tolerance, relative to the error bound
  double of_error = 0;
  double error = 0;          // error bound at `at`
  bool limited = false;      // an element exceeds its limit, or the judge rejects a row or the tensor's scale
  std::string as_a_whole{};  // says which row, or how far the scale is off; "" if neither
};

/// Compares a result with the reference. Throws Error if the shapes of `found` and `expected` differ. The other
/// arrays are optional (nullptr) and have the same shape:
///
/// - `errors`: how far rounding alone may move each element (rounding.hpp).
/// - `rounded`: the reference with all roundings of the graph, if `expected` omits some.
/// - `limits`: the largest deviation of each element, whatever the tolerance is.
Comparison compare(const Array& found, const Array& expected, const Tolerance&, const Array* errors = nullptr,
                   const Array* rounded = nullptr, const Array* limits = nullptr);
inline Comparison compare(const Array& found, const Array& expected, graph::DType dtype, const Array* errors = nullptr,
                          const Array* rounded = nullptr, const Array* limits = nullptr) {
  return compare(found, expected, tolerance(dtype), errors, rounded, limits);
}

std::string to_string(const Comparison&);

}  // namespace zellige::reference
