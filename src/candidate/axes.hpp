// Finds the axes of a group of operators. An axis is an iteration dimension: dimensions of different tensors
// that are indexed together belong to one axis.
//
//   Axes a = axes_of(steps);       // of rms_norm and matmul: rows, width (summed over by both), columns
//   a.of[value][d]                 // the axis of dimension d of a value; -1 if that dimension has extent 1
//
// The grid may split an axis over blocks if no step reduces over the axis, and no step needs the whole axis
// in one block. The kernel's loop may run along an axis that a step reduces over.
#pragma once
#include "candidate/steps.hpp"
#include "target/target.hpp"

namespace zellige::candidate {

struct Axis {
  std::int64_t extent = 1;
  bool summed = false;  // some step reduces over it (sum, maximum or matmul)
  bool whole = false;   // some step needs all of it in one block, for example a rotary embedding
};

struct Axes {
  std::vector<std::vector<int>> of;  // by value and dimension: index into `axes`; -1: extent 1
  std::vector<Axis> axes;

  /// Returns whether some dimension of the value lies along the axis.
  bool has(int value, int axis) const { return dim(value, axis) >= 0; }
  /// Returns which dimension of the value lies along the axis, or -1 if none does.
  int dim(int value, int axis) const;
  /// Returns whether the step reduces over the axis: its first operand has the axis, and its result has not.
  bool reduces(const GroupStep& s, int axis) const { return has(s.inputs[0], axis) && !has(s.output, axis); }
};

/// Returns the axes of a group's steps. Throws Error if two dimensions of one value would be the same axis,
/// as in x + transpose(x).
Axes axes_of(const GroupSteps&);

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

/// What a rule of steps reads besides them.
struct StepsContext {
  const graph::KernelGraph& graph;
  const target::Target& target;
  std::vector<int> partial =
      {};  // Level::tiled: the axes whose last tile is partial, as indices of axes_of(steps).axes
};

}  // namespace zellige::candidate
