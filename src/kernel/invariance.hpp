// Detects values that are constant along the loop of a loop nest, so that they can be evaluated once before it.
//
//   Invariance invariant(plan, steps);          // steps with one thread-value layout, evaluated in one nest
//   item.invariant = invariant(item, before);   // `before`: the nest's items so far, to which `item.in` refers
//
// The loop of a nest is along axis 0 of the thread-value layout. A coordinate is fixed if axis 0 does not move along
// its dimension. Examples are the row number in a reduction along rows, and the coordinate in a dimension of extent
// 1.
//
// - A read of a single element whose coordinates are all fixed is invariant, unless the nest itself writes the
//   buffer.
// - An elementwise operator of single invariant elements is invariant.
// - A nest of one iteration, or over an instruction's accumulators, has no invariant values.
#pragma once
#include <set>

#include "kernel/evaluation.hpp"

namespace zellige::kernel {

/// Decides for each instruction (Item) of one loop nest whether its value is constant along the nest's loop.
class Invariance {
 public:
  Invariance(const Kernel&, StepSpan);
  /// Returns whether the value of an item is constant along the nest's loop. `before` has all items that precede it.
  bool operator()(const Item&, const std::vector<Item>& before) const;

 private:
  /// Returns whether all coordinates of the list are constant along the loop of the loop nest.
  bool fixed(const std::vector<TileCoordinate>&) const;

  const tile::TileProgram& program_;
  bool loop_;                // whether the nest has a loop of more than one iteration
  std::vector<bool> moves_;  // by dimension: whether the loop moves along it
  std::set<int> written_;    // the buffers that the nest writes
};

}  // namespace zellige::kernel
