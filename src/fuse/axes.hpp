// How a group runs through its dimensions: dimensions that count the same thing are one axis.
//
//   Axes a = axes_of(steps);       // of rms_norm and matmul: rows, width (summed over by both), columns
//   a.of[value][d]                 // the axis of dimension d of a value; -1 where it has one element
//
// An axis that no step sums over or needs whole may be cut among blocks, and one that is summed over is what a loop may run along.
#pragma once
#include "fuse/steps.hpp"

namespace zellige::fuse {

struct Axis {
  std::int64_t extent = 1;
  bool summed = false;  // over it, by a sum, a maximum or a product
  bool whole = false;   // some step needs all of it side by side, as a rotary embedding does
};

struct Axes {
  std::vector<std::vector<int>> of;  // by value and dimension
  std::vector<Axis> axes;

  bool has(int value, int axis) const;
  /// The dimension of the value along the axis; -1: none.
  int dim(int value, int axis) const;
};

/// Throws Error where two dimensions of one value would be the same axis.
Axes axes_of(const Steps&);

}  // namespace zellige::fuse
