// Finds the axes of a group: dimensions that are indexed together are one axis.
//
//   Axes a = axes_of(steps);       // of rms_norm and matmul: rows, width (summed over by both), columns
//   a.of[value][d]                 // the axis of dimension d of a value; -1 where it has one element
//
// An axis that no step reduces over or needs whole may be split over blocks; the loop may run along one that
// is reduced over.
#pragma once
#include "fuse/steps.hpp"

namespace zellige::fuse {

struct Axis {
  std::int64_t extent = 1;
  bool summed = false;  // some step reduces over it (sum, maximum or matmul)
  bool whole = false;   // some step needs all of it in one block, as a rotary embedding does
};

struct Axes {
  std::vector<std::vector<int>> of;  // by value and dimension; -1: no axis
  std::vector<Axis> axes;

  bool has(int value, int axis) const;
  /// Returns the dimension of the value along the axis; -1: none.
  int dim(int value, int axis) const;
};

/// Throws Error if two dimensions of one value would be the same axis.
Axes axes_of(const Steps&);

}  // namespace zellige::fuse
