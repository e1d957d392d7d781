// Defines each composite operator, such as softmax, as a list of primitive operators. The float64 reference, its error
// analysis, the comparison of graphs (`zellige equal`) and the lowering to kernels all use this definition.
//
//   compose(OpKind::softmax, {.dim = 1}, {{4, 8}})   // for shape (4, 8): amax, sub, exp, reduction, div
//
// amax along one dimension with keepdim is a primitive; every other amax is composed of this primitive. So are the other
// reductions along one dimension or several (reductions.hpp).
//
// A step refers to its inputs by number: the composite operator's operands have the first numbers, and the
// results of the steps, in order, the next ones. The last step computes the operator's result, with extent 1
// in the reduced dimensions. If `keepdim` is false, the caller drops these dimensions.
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// One primitive operator of a composite operator.
struct ComposedStep {
  OpKind kind{};
  std::vector<int> inputs;  // indices: operands first, then results of earlier steps
  Attributes attributes{};
};

/// Returns whether the operator is composite (computed by several primitive operators). True for amax,
/// although amax along one dimension with keepdim is a primitive.
bool is_composed(OpKind);

/// Returns whether the operator is a primitive such as the primitive amax: a reduction of Along::dims (reductions.hpp)
/// along one dimension, with keepdim.
bool is_primitive_fold(OpKind, const Attributes&);

/// Returns the steps of a composite operator, or of rotary_interleaved, which kernels compute at once. `operands` are
/// shapes that infer_shapes() accepts. `computed`: f64 if kernels compute in float64, whose range is in the steps then. Throws
/// Error for other operators.
std::vector<ComposedStep> compose(OpKind, const Attributes&, const std::vector<Shape>& operands,
                                  DType computed = DType::f32);

/// Returns the dimensions over which a composite operator reduces or normalizes, in descending order. For a norm, these
/// are the trailing dimensions of x that its normalized shape has; for a rotary embedding, the last dimension; for
/// other operators, the attribute `dim` or the dimensions that the attribute `sizes` lists.
std::vector<int> composed_dims(OpKind, const Attributes&, const Shape& x);

/// Returns whether the operator is a reduction, such as sum or amax. Its result has extent 1 along
/// composed_dims(), or lacks these dimensions if the attribute `keepdim` is false.
bool reduces(OpKind);

/// Returns the shape of each step's result, given the shapes of the composite operator's operands. If the
/// operator reduces dimensions, they have extent 1 in the last shape.
std::vector<Shape> step_shapes(const std::vector<ComposedStep>&, const std::vector<Shape>& operands);

}  // namespace zellige::graph
