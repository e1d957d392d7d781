// Maps a region of a reshaped tensor to the original shape: finds boxes of the two shapes that contain the
// same elements.
//
//   regroup({{0, 1, 0}, {8, 2, 128}}, {8, 32, 128}, {8, 4096})  // heads 1, 2: columns 128 to 383 in both
//   regroup({{0, 200}, {8, 100}}, {8, 4096}, {8, 32, 128})       // columns 200 to 299 lie in heads 1 and 2
#pragma once
#include "graph/region.hpp"

namespace zellige::graph {

/// Boxes of two shapes with the same elements.
struct Regrouped {
  Region seen, from;  // `seen` contains the requested region; `from` is in the other shape
};

/// Returns boxes of the shapes `seen` and `from` that contain the same elements in row-major order. The first
/// contains the region, which has the shape `seen`. They are small, but not proved to be the smallest.
Regrouped regroup(const Region&, const Shape& seen, const Shape& from);

}  // namespace zellige::graph
