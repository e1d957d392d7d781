// Defines Region, a box of a tensor: origin and extent along each dimension.
#pragma once
#include "reference/array.hpp"

namespace zellige::reference {

struct TensorRegion {
  graph::Shape origin, extent;
  auto operator<=>(const TensorRegion&) const = default;
};

/// Returns the region that is a whole tensor of this shape.
inline TensorRegion whole(const graph::Shape& shape) { return {graph::Shape(shape.size(), 0), shape}; }

/// Calls visit(i, k) for each row of a region: i is the number of the row in the tensor, k its number in the region.
/// Rows run along the last dimension and are numbered in row-major order. `tensor`: shape of the tensor.
template <class Visit>
void each_row(const graph::Shape& tensor, const TensorRegion& r, const Visit& visit) {
  const std::size_t rank = tensor.size();
  const std::int64_t rows = graph::size(r.extent) / r.extent[rank - 1];
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t rest = row, at = 0, step = 1;
    for (std::size_t d = rank - 1; d-- > 0;) {
      at += (r.origin[d] + rest % r.extent[d]) * step;
      rest /= r.extent[d];
      step *= tensor[d];
    }
    visit(at, row);
  }
}

}  // namespace zellige::reference
