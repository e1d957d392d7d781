// Decides exactly whether strides give each element of a tensor an address of its own.
//
//   shared_address({128, 17}, {129, 128})   // nothing: no two elements share an address, though the rows interleave
//   shared_address({4, 4}, {2, 3})          // (0, 2) and (3, 0): both lie at 6
//
// Two elements share an address if some d other than 0, with |d[k]| < shape[k], has d . strides = 0.
// Dimensions are enumerated from the shortest; the last two are one linear equation in two unknowns. With at
// most 2^40 elements in 4 dimensions that is at most 2^21 equations; nested strides are recognized at once.
#pragma once
#include <optional>
#include <utility>

#include "graph/graph.hpp"

namespace zellige::graph {

/// Returns two coordinates with the same address; nothing if there are none. Preconditions: extents are at
/// least 1, strides are not negative where the extent is more than 1, and all elements lie within 2^40
/// addresses.
std::optional<std::pair<Shape, Shape>> shared_address(const Shape&, const Strides&);

}  // namespace zellige::graph
