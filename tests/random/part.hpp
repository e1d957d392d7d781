// The part of an array that a region is, as it is expected of what computes that region alone.
#pragma once
#include <algorithm>

#include "reference/region.hpp"

namespace zellige::graph {

/// Returns the elements of a region of an array as an array of their own.
inline reference::Array part(const reference::Array& a, const reference::TensorRegion& r) {
  reference::Array to = reference::make_array(r.extent);
  const std::int64_t n = a.shape.back(), m = r.extent.back();
  reference::each_row(a.shape, r, [&](std::int64_t from, std::int64_t row) {
    std::copy_n(a.values.data() + from * n + r.origin.back(), m, to.values.data() + row * m);
  });
  return to;
}

}  // namespace zellige::graph
