// Finds the axes of a group of operators that the grid's dimensions may split.
#pragma once
#include "candidate/axes.hpp"

namespace zellige::candidate {

/// Axes that one grid dimension may split together.
struct GridAxes {
  std::vector<int> axes;
  std::int64_t largest = 1, shared = 1;  // extents: the greatest, and their common divisor
  int back = 0;                          // dimension of the first result, counted from the last
};

/// Returns the sets of axes that one grid dimension may split. Every result of the group has one of these axes, no
/// step reduces over them, and no step needs all of one in a block. A set starts with an axis of the first result. If
/// another result lacks this axis, the axis at the same position of that result is added, such as the heads of keys to
/// the heads of queries.
std::vector<GridAxes> grid_axes(const GroupSteps&, const Axes&);

}  // namespace zellige::candidate
