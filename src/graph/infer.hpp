// Infers the shapes, dtypes and names of all tensors of a graph from its inputs, and which block tensors are
// computed after the loop.
//
//   KernelGraph g = infer(std::move(sketch));   // every tensor has its shape, dtype, name and after_loop
//
// A shape that is already set must agree with the inferred one; a conflict throws Error with the operator's
// name. Strides are not changed. A block operator runs after the loop if one of its operands is computed after
// the loop. Its other operands must then not change with the iteration.
//
// Rejects invalid graphs. The message is one sentence: the graph, the operator, what was expected and what was found.
//
//   validate(g);   // throws Error, or g is valid: later passes rely on it
//
// In a valid graph, operators are in a topological order, and every shape, dtype and after_loop is as infer()
// infers it. Names are unique, inputs have strides, and outputs are computed by an operator.
#pragma once
#include "graph/graph.hpp"
#include "graph/where.hpp"

namespace zellige::graph {

constexpr int max_rank = 8;
constexpr std::int64_t max_extent = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t max_elements = std::int64_t{1} << 40;

/// Returns the graph with the shape, dtype and name of every tensor set, and with `after_loop` set: whether a
/// block tensor is computed after the loop. Throws Error if an operator cannot be applied to its operands, or
/// if operators are out of order.
KernelGraph infer(KernelGraph);

/// Returns the shapes of an operator's results, given the shapes of its operands. Throws Error if the
/// operator cannot be applied to them. The operator must not be input, output or custom.
std::vector<Shape> infer_shapes(const Where&, OpKind, const Attributes&, const std::vector<Shape>& operands);

/// Returns whether the operator adds: a sum or matmul, which is computed in int32 if its operands are integers.
bool adds_integers(OpKind);

/// Returns the dtype of an operator's result if its operands have the dtype `operands`. A matmul of e4m3 or
/// e5m2 gives f32; sums of integers give int32; a cast gives its attribute `dtype`.
DType result_dtype(OpKind, const Attributes&, DType operands);

/// Throws Error if the operator is not defined on integer operands of this dtype, if an integer operator's scalar is
/// not an integer in range, or if `tf32` is set for operands other than f32. `count`: the number of tensor operands.
void check_dtype(const Where&, OpKind, const Attributes&, DType operands, std::size_t count);

/// Returns, per block tensor, whether its value changes from iteration to iteration; false for all if the
/// loop runs once.
std::vector<bool> varies(const BlockGraph&);

/// Throws Error unless a shape's rank is 1 to max_rank (8), each extent is 1 to max_extent (2^31 - 1), and the
/// number of elements is at most max_elements (2^40). `what` names the tensor in the message.
void check_shape(const Where&, std::string_view what, const Shape&);

/// Shapes of a matmul's operands and result, each with at least two dimensions: a vector on the left is a row, a vector on
/// the right a column.
struct MatmulShapes {
  Shape a, b, product;  // batches broadcast
};

/// Returns the shapes of a matmul's operands and product as matrices. Precondition: infer_shapes() accepts
/// the operands.
MatmulShapes matrices(const Shape& a, const Shape& b);

/// Returns the product's shape without the dimensions that matrices() added to vector operands. `a`, `b`: the
/// original shapes. For two vectors, returns (1).
Shape without_vectors(Shape product, const Shape& a, const Shape& b);

/// Throws Error, which names the operator or tensor, unless the graph is valid.
void validate(const KernelGraph&);

}  // namespace zellige::graph
