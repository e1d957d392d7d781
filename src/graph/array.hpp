// A tensor's values on the host: float64, dense and row-major, independent of its dtype and strides in device
// memory.
#pragma once
#include <vector>

#include "graph/graph.hpp"

namespace zellige::graph {

struct Array {
  Shape shape;
  std::vector<double> values;
};

inline Array make_array(Shape shape) {
  const std::int64_t elements = size(shape);
  return {std::move(shape), std::vector<double>(static_cast<std::size_t>(elements))};
}

/// The greatest magnitude among values; `finite` is false if any is infinite or NaN.
struct Magnitude {
  double greatest = 0;
  bool finite = true;
  bool within(double limit) const { return finite && greatest <= limit; }
};

/// The values of a tensor that a mask may have produced (masked.hpp) and that do not count as magnitudes: NaN
/// alone, or NaN and -inf, including a maximum over nothing but -inf.
enum class Mask : std::uint8_t { none, nan, infinity };

Magnitude magnitude(const double* values, std::int64_t count, Mask = Mask::none);
inline Magnitude join(const Magnitude& a, const Magnitude& b) {
  return {a.greatest > b.greatest ? a.greatest : b.greatest, a.finite && b.finite};
}

}  // namespace zellige::graph
