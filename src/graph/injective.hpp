// Do strides give each element of a tensor an address of its own? Decided exactly.
//
//   shared_address({128, 17}, {129, 128})   // nothing: no two elements meet, though the rows interleave
//   shared_address({4, 4}, {2, 3})          // (0, 2) and (3, 0): both lie at 6
//
// Two elements meet where some d other than 0, with |d[k]| < shape[k], has d . strides = 0. Dimensions are walked from the
// shortest; the last two are one linear equation in two unknowns. With at most 2^40 elements in 4 dimensions that is at most
// 2^21 equations, and strides that nest are told at once.
#pragma once
#include <optional>
#include <utility>

#include "graph/graph.hpp"

namespace zellige::graph {

/// Two coordinates that lie at one address; nothing if there are none. Extents are at least 1, strides not negative where the
/// extent is more than 1, and all elements lie within 2^40 addresses.
std::optional<std::pair<Shape, Shape>> shared_address(const Shape&, const Strides&);

}  // namespace zellige::graph
