// Measures the distance between two arrays per element, per row and in scale. The judge (judge.hpp) compares
// each measure with a limit.
//
//   Deviation d = deviation(found, expected);
//   Deviation most = close_by(expected, DType::bf16, nullptr);   // allowed without further evidence
//   raise(most, deviation(sample, expected), 4);                 // allowed by a run with random rounding
//
// An error may be within the limit of every element and yet show in the norm of a row, such as a row of zeros
// in a coarse dtype. Or it may show in the scale of the tensor, such as a factor of 1 + 1/64.
#pragma once
#include "graph/compare.hpp"

namespace zellige::graph {

/// Distances between two arrays, or limits of such distances.
struct Deviation {
  std::vector<double> elements;  // |found - expected|
  std::vector<double> rows;      // per row (last dimension): norm of found - expected
  double scale = 0;  // |<found - expected, expected>| / <expected, expected>, over finite elements
  double norm = 0;   // ||found - expected|| / ||expected||
};

/// Returns the distances between two arrays of the same shape.
Deviation deviation(const Array& found, const Array& expected);

/// Raises each number of `to` to at least `factor` times the number in `from`.
void raise(Deviation& to, const Deviation& from, double factor);

/// Returns the deviations that a right result is allowed without further evidence.
///
/// - Elements: allowances() under close_tolerance().
/// - Rows and scale: norm_allowed() for the number of elements of the row or of the tensor.
/// - If the program omits roundings, rows and scale also allow their effect. A row allows twice the change
///   that they make. The scale allows the change of scale that they make, plus five times their relative norm
///   divided by the square root of the number of rows.
///
/// `rounded` is the reference with all roundings, or nullptr if none is omitted. The norm is not set.
Deviation close_by(const Array& expected, DType, const Array* rounded);

}  // namespace zellige::graph
