// The part of an array that a region is, as it is expected of what computes that region alone.
#pragma once
#include <algorithm>

#include "reference/region.hpp"

namespace zellige::graph {

/// Returns the elements of a region of an array as an array of their own.
inline Array part(const Array& a, const Region& r) {
  Array to = make_array(r.extent);
  const std::int64_t n = a.shape.back(), m = r.extent.back();
  each_row(a.shape, r, [&](std::int64_t from, std::int64_t row) {
    std::copy_n(a.values.data() + from * n + r.origin.back(), m, to.values.data() + row * m);
  });
  return to;
}

}  // namespace zellige::graph
