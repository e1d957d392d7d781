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
#include <utility>

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

/// Decides exactly whether strides give each element of a tensor an address of its own. Two elements share an address if some
/// nonzero vector d with |d[k]| < shape[k] satisfies d . strides = 0. The search enumerates d along the shortest dimensions;
/// the two longest ones give one linear equation in two unknowns. For at most 2^40 elements in 4 dimensions, that is at most
/// 2^21 equations. No search is needed if each stride exceeds the largest address that the smaller strides reach.
///
///     shared_address({128, 17}, {129, 128})   // nullopt: no two elements share an address
///     shared_address({4, 4}, {2, 3})          // (0, 2) and (3, 0): both are at address 6
///
/// Returns the coordinates of two elements with the same address, or nullopt if every element has an address
/// of its own. Preconditions: extents are at least 1, strides along extents above 1 are not negative, and all
/// elements are within 2^40 addresses.
std::optional<std::pair<Shape, Shape>> shared_address(const Shape&, const Strides&);

// Results may share the memory of inputs, such as a cache that a program updates. Such a result overwrites the input's old
// value, so all operators that read the old value must run before the operator that computes the result.
//
//   for (int i : in_place_order(g)) ... g.ops[i]   // readers of an old value, then the operator that overwrites it

/// Returns whether any result of the graph shares the memory of an input.
bool writes_in_place(const KernelGraph&);

/// Returns the indices of the operators in an order in which every reader of an old value precedes the
/// operator that overwrites it. Throws Error if a result cannot share the memory of the input that it names,
/// or if there is no such order.
std::vector<int> in_place_order(const KernelGraph&);

}  // namespace zellige::graph
