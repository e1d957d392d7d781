// Maps a part of a reshaped tensor to the original shape: boxes of both shapes that contain the same
// elements.
//
//   regroup({{0, 1, 0}, {8, 2, 128}}, {8, 32, 128}, {8, 4096})  // heads 1, 2: columns 128 to 383 in both
//   regroup({{0, 200}, {8, 100}}, {8, 4096}, {8, 32, 128})       // columns 200 to 299 lie in heads 1 and 2
#pragma once
#include "graph/region.hpp"

namespace zellige::graph {

struct Regrouped {
  Region seen, from;  // `seen`: in the first shape, containing the region requested; `from`: in the other
};

/// Returns the smallest such boxes that it finds; in row-major order both list the same elements.
Regrouped regroup(const Region&, const Shape& seen, const Shape& from);

}  // namespace zellige::graph
