// Detects the values of a loop nest that are constant along its loop.
//
//   Invariance invariant(plan, tasks);          // tasks of one context, evaluated together
//   item.invariant = invariant(item, before);   // `before`: the nest's items so far, which `item.in` counts in
//
// The loop is that along axis 0 of the nest's context. Dimensions that axis 0 does not move along have one
// coordinate for all of its steps: the rows of a reduction along a row, and every dimension of extent 1. A
// read at such a coordinate is invariant unless the nest itself writes what it reads; an operator on single
// elements of invariant values is invariant, too. A nest of one step, or over the accumulators of an
// instruction, has no invariant values.
#pragma once
#include "plan/evaluation.hpp"

namespace zellige::plan {

class Invariance {
 public:
  Invariance(const KernelPlan&, const std::vector<int>& tasks);
  bool operator()(const Item&, const std::vector<Item>& before) const;

 private:
  bool fixed(const std::vector<Place>&) const;

  const BlockProgram& program_;
  bool loop_;                // whether there is one
  std::vector<bool> moves_;  // by dimension
  std::set<int> written_;    // the buffers that the nest writes
};

}  // namespace zellige::plan
