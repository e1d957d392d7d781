// A tensor's values on the host: float64, dense, row-major, whatever its dtype and strides in device memory.
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

/// Of a tensor that a mask reaches (masked.hpp), what the mask put there is left out: -inf, and a maximum of nothing else.
Magnitude magnitude(const double* values, std::int64_t count, bool masked = false);
inline Magnitude join(const Magnitude& a, const Magnitude& b) {
  return {a.greatest > b.greatest ? a.greatest : b.greatest, a.finite && b.finite};
}

}  // namespace zellige::graph
