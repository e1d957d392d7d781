// Composite operators, each defined as a few primitive steps, which the reference, its error analysis,
// `equal` and the lowering all use.
//
//   compose(OpKind::softmax, {.dim = 1}, {{4, 8}})   // amax, sub, exp, reduction, div
//
// amax along one dimension with keepdim is a primitive; every other amax is composed of it.
//
// A step's inputs are numbered operands first, then the results of earlier steps. The last step's result is
// the operator's, except that the reduced dimension is dropped if `keepdim` is false.
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

struct Step {
  OpKind kind{};
  std::vector<int> inputs;
  Attributes attributes{};
};

bool is_composed(OpKind);

/// Returns whether the operator is a primitive amax (one dimension, kept).
bool is_greatest(OpKind, const Attributes&);

/// The shapes are those of operands that infer_shapes has accepted.
std::vector<Step> compose(OpKind, const Attributes&, const std::vector<Shape>& operands);

/// The dimensions that a composite operator reduces or normalizes over, the last one first: `dim`, those of
/// `sizes`, or the trailing ones.
std::vector<int> composed_dims(OpKind, const Attributes&, const Shape& x);

/// Returns whether its result has extent 1 along those dimensions (or drops them if `keepdim` is false).
bool reduces(OpKind);

/// Shapes of the steps' results; the last one keeps the reduced dimension.
std::vector<Shape> step_shapes(const std::vector<Step>&, const std::vector<Shape>& operands);

}  // namespace zellige::graph
