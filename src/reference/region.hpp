// Defines TensorRegion, a box of a tensor: origin and extent along each dimension.
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

/// Boxes of two shapes with the same elements.
struct Regrouped {
  TensorRegion seen, from;  // `seen` contains the requested region; `from` is in the other shape
};

/// Maps a region between two shapes of one tensor, `seen` and `from`. Returns a box in each shape; both boxes contain the same elements
/// of the tensor. The box in `seen` contains the given region of `seen`. The boxes are small, but not proved to be the smallest.
///
///   // Heads 1 and 2 of (8, 32, 128) are columns 128 to 383 of (8, 4096).
///   regroup({{0, 1, 0}, {8, 2, 128}}, {8, 32, 128}, {8, 4096})
///   // Columns 200 to 299 of (8, 4096) lie in heads 1 and 2: the boxes are columns 128 to 383 and heads 1, 2.
///   regroup({{0, 200}, {8, 100}}, {8, 4096}, {8, 32, 128})
Regrouped regroup(const TensorRegion&, const graph::Shape& seen, const graph::Shape& from);

}  // namespace zellige::reference
