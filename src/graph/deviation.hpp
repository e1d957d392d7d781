// How far one array lies from another: by element, by row and in scale.
//
//   Deviation d = deviation(found, expected);
//   Deviation most = close_by(expected, DType::bf16, nullptr);   // what needs no explanation
//   raise(most, deviation(sample, expected), 4);                 // what a run that rounding has moved explains
//
// A fault that no element shows may show in a row (a row of zeros in a coarse dtype) or in the scale (a factor of 1 + 1/64).
#pragma once
#include "graph/compare.hpp"

namespace zellige::graph {

struct Deviation {
  std::vector<double> elements;  // |found - expected|
  std::vector<double> rows;      // its norm along the last dimension
  double scale = 0;              // |<found - expected, expected>| / <expected, expected>, of what is finite
  double norm = 0;               // ||found - expected|| / ||expected||
};

Deviation deviation(const Array& found, const Array& expected);

/// Raises each of `to` to `factor` times that of `from`.
void raise(Deviation& to, const Deviation& from, double factor);

/// The deviations that need no explanation. Elements: close_tolerance(). Rows and the scale: what norm_allowed() gives so many
/// elements; where roundings are left out, also twice what they take away of the row, and what they move the scale by, with five
/// standard deviations of a mean over the rows. No norm.
Deviation close_by(const Array& expected, DType, const Array* rounded);

}  // namespace zellige::graph
