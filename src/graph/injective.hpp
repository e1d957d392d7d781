// Decides exactly whether strides give each element of a tensor an address of its own.
//
//   shared_address({128, 17}, {129, 128})   // nullopt: no two elements share an address
//   shared_address({4, 4}, {2, 3})          // (0, 2) and (3, 0): both are at address 6
//
// Two elements share an address if some nonzero vector d with |d[k]| < shape[k] satisfies d . strides = 0.
// The search enumerates d along the shortest dimensions; the two longest ones give one linear equation in two
// unknowns. For at most 2^40 elements in 4 dimensions, that is at most 2^21 equations. No search is needed if
// each stride exceeds the largest address that the smaller strides reach.
#pragma once
#include <utility>

#include "graph/graph.hpp"

namespace zellige::graph {

/// Returns the coordinates of two elements with the same address, or nullopt if every element has an address
/// of its own. Preconditions: extents are at least 1, strides along extents above 1 are not negative, and all
/// elements are within 2^40 addresses.
std::optional<std::pair<Shape, Shape>> shared_address(const Shape&, const Strides&);

}  // namespace zellige::graph
