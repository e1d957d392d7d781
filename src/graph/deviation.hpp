// Distance between two arrays: per element, per row and in scale.
//
//   Deviation d = deviation(found, expected);
//   Deviation most = close_by(expected, DType::bf16, nullptr);   // what needs no explanation
//   raise(most, deviation(sample, expected), 4);                 // what a run with random rounding explains
//
// A fault too small for any element may show in a row (a row of zeros in a coarse dtype) or in the scale (a
// factor of 1 + 1/64).
#pragma once
#include "graph/compare.hpp"

namespace zellige::graph {

struct Deviation {
  std::vector<double> elements;  // |found - expected|
  std::vector<double> rows;      // norm of found - expected along the last dimension
  double scale = 0;  // |<found - expected, expected>| / <expected, expected>, over finite elements
  double norm = 0;   // ||found - expected|| / ||expected||
};

Deviation deviation(const Array& found, const Array& expected);

/// Raises each value of `to` to at least `factor` times that of `from`.
void raise(Deviation& to, const Deviation& from, double factor);

/// The deviations that need no explanation. Elements: close_tolerance(). Rows and scale: norm_allowed() for
/// that number of elements; if roundings are omitted, also twice what they change in the row, and what they
/// change the scale by, with five standard deviations of a mean over the rows. The norm is not set.
Deviation close_by(const Array& expected, DType, const Array* rounded);

}  // namespace zellige::graph
