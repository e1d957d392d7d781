// Finds the axes of a group of operators. An axis is an iteration dimension: all dimensions of tensors that
// are indexed together are one axis.
//
//   Axes a = axes_of(steps);       // of rms_norm and matmul: rows, width (summed over by both), columns
//   a.of[value][d]                 // the axis of dimension d of a value; -1 where it has one element
//
// An axis that no step reduces over, or needs in one block, may be split over blocks. The kernel's loop may
// run along an axis that is reduced over.
#pragma once
#include "fuse/steps.hpp"

namespace zellige::fuse {

struct Axis {
  std::int64_t extent = 1;
  bool summed = false;  // some step reduces over it (sum, maximum or matmul)
  bool whole = false;   // some step needs all of it in one block, for example a rotary embedding
};

struct Axes {
  std::vector<std::vector<int>> of;  // by value and dimension: index into `axes`; -1: extent 1
  std::vector<Axis> axes;

  /// Returns whether the value has a dimension along the axis.
  bool has(int value, int axis) const;
  /// Returns the dimension of the value along the axis; -1: none.
  int dim(int value, int axis) const;
};

/// Returns the axes of a group's steps. Throws Error if two dimensions of one value would be the same axis,
/// as in x + transpose(x).
Axes axes_of(const Steps&);

}  // namespace zellige::fuse
