// Measures the distance between two arrays per element, per row and in scale. The scale is the relative error
// that all elements have in common: 1/64 if found is (1 + 1/64) expected. The judge (judge.hpp) compares each
// measure with a limit.
//
//   Deviation d = deviation(found, expected);
//   Deviation most = close_by(expected, DType::bf16, nullptr);   // limits for any right result
//   raise(most, deviation(sample, expected), 4);  // raises each limit to at least 4 times a sample's deviation
//
// A sample is the result of a run of the reference with random rounding: it shows how far rounding moves a result.
//
// Norms of rows and the scale detect errors that are within the limit of every element: for example a row of
// zeros in a coarse dtype, or a factor of 1 + 1/64 in the whole tensor.
#pragma once
#include "reference/compare.hpp"

namespace zellige::reference {

/// Distances between two arrays, or limits of such distances.
struct Deviation {
  std::vector<double> elements;  // |found - expected|
  std::vector<double> rows;      // per row (last dimension): norm of found - expected
  double scale = 0;              // |<found - expected, expected>| / <expected, expected>, over finite elements
  double norm = 0;               // ||found - expected|| / ||expected||
};

/// Returns the distances between two arrays of the same shape.
Deviation deviation(const Array& found, const Array& expected);

/// Raises each number of `to` to at least `factor` times the corresponding number in `from`.
void raise(Deviation& to, const Deviation& from, double factor);

/// Returns the largest deviations from `expected` that are accepted without an analysis of how far rounding may
/// move this result. Does not set the member `norm`.
///
/// - Element: what allowances() returns for the tolerance close_tolerance() (about one step of the dtype).
/// - Row: norm_allowed() for the length of a row, times the norm of the row; plus twice the norm of the change
///   that omitted roundings make in the row.
/// - Scale: norm_allowed() for the size of the tensor; plus the change of scale by omitted roundings, and five
///   times the relative norm of their change, divided by the square root of the number of rows.
///
/// `rounded`: the reference with all roundings of the graph, if `expected` lacks some of them; otherwise nullptr.
Deviation close_by(const Array& expected, graph::DType, const Array* rounded);

}  // namespace zellige::reference
