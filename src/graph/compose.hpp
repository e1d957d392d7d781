// Operators made of others: what each of them means is a few steps, and the reference, its error analysis, `equal` and the
// lowering all take those steps.
//
//   for (const Step& step : compose(OpKind::softmax, {.dim = 1}, {{4, 8}})) ...   // amax, sub, exp, reduction, div
//
// amax along one dimension, kept, is itself a step; every other amax is made of such.
//
// A step's inputs are counted through the operands first, then the results of the steps before it. The last step's result is
// the operator's, but for the dimension that it leaves out where `keepdim` is false.
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

struct Step {
  OpKind kind{};
  std::vector<int> inputs;
  Attributes attributes{};
};

bool is_composed(OpKind);

/// Is it a step that nothing is made of further?
bool is_greatest(OpKind, const Attributes&);

/// The shapes are those of operands that infer_shapes has accepted.
std::vector<Step> compose(OpKind, const Attributes&, const std::vector<Shape>& operands);

/// The dimensions that a composed operator works along, the last one first: `dim`, those of `sizes`, or the last ones.
std::vector<int> composed_dims(OpKind, const Attributes&, const Shape& x);

/// Does its result have one element along those dimensions, or none where `keepdim` is false?
bool reduces(OpKind);

/// Of the result of each step, the last one's with the dimension kept.
std::vector<Shape> step_shapes(const std::vector<Step>&, const std::vector<Shape>& operands);

}  // namespace zellige::graph
