// Maps a region of a reshaped tensor to the original shape: finds boxes of the two shapes that contain the
// same elements.
//
//   // Heads 1 and 2 of (8, 32, 128) are columns 128 to 383 of (8, 4096).
//   regroup({{0, 1, 0}, {8, 2, 128}}, {8, 32, 128}, {8, 4096})
//   // Columns 200 to 299 of (8, 4096) lie in heads 1 and 2: the boxes are columns 128 to 383 and heads 1, 2.
//   regroup({{0, 200}, {8, 100}}, {8, 4096}, {8, 32, 128})
#pragma once
#include "reference/region.hpp"

namespace zellige::reference {

/// Boxes of two shapes with the same elements.
struct Regrouped {
  TensorRegion seen, from;  // `seen` contains the requested region; `from` is in the other shape
};

/// Maps a region between two shapes of one tensor, `seen` and `from`. Returns a box in each shape; both boxes
/// contain the same elements of the tensor. The box in `seen` contains the given region of `seen`. The boxes
/// are small, but not proved to be the smallest.
Regrouped regroup(const TensorRegion&, const graph::Shape& seen, const graph::Shape& from);

}  // namespace zellige::reference
