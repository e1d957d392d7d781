// Infers the shapes, dtypes and names of all tensors of a graph from its inputs, and which block tensors are
// computed after the loop.
//
//   KernelGraph g = infer(std::move(sketch));   // every tensor has its shape, dtype, name and after_loop
//
// A shape that is already set must agree with the inferred one; a conflict throws Error with the operator's
// name. Strides are not changed. A block operator runs after the loop if one of its operands is computed after
// the loop. Its other operands must then not change with the iteration.
#pragma once
#include <optional>

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

/// Returns the dtype of an operator's result if its operands have the dtype `operands`. A matmul of e4m3 or
/// e5m2 gives f32; sums of integers give int32; a cast gives its attribute `dtype`.
DType result_dtype(OpKind, const Attributes&, DType operands);

/// Throws Error if the operator is not defined on integer operands of this dtype, if an integer operator's
/// scalar is not an integer in range, or if `tf32` is set for operands other than f32. `count`: the number of
/// tensor operands.
void check_dtype(const Where&, OpKind, const Attributes&, DType operands, std::size_t count);

/// Returns the shape of the tile that an input operator loads in one block and iteration, from a tensor of
/// shape `whole`. If the operator's attributes have a larger shape, the tensor is padded to that shape with
/// zeros. Throws Error if the grid or the loop does not divide a dimension that it splits.
Shape input_tile(const Where&, const BlockOp&, const Shape& whole, const Dim3& grid, std::int64_t loop);

/// Returns the coordinates, in the whole tensor, of the first element of the tile that belongs to one block
/// and iteration. `tile`: shape of the tile; `loop`: number of iterations.
Shape tile_origin(const BlockOp&, const Shape& tile, const Dim3& block, std::int64_t iteration,
                  std::int64_t loop);

/// Returns the shape of the kernel-level tensor that an output operator stores: the concatenation of the
/// tiles of all blocks, or the part of it that the operator's attributes select (a slice, or a smaller shape
/// without padding). Throws Error if several blocks would write the same elements.
Shape output_whole(const Where&, const BlockOp&, const Shape& tile, const Dim3& grid);

/// Returns the coordinates, in the stored tensor, of the first element of a block's tile. Returns nullopt if
/// the operator stores a slice and the tile is outside of it.
std::optional<Shape> stored_at(const BlockOp&, const Shape& tile, const Dim3& block);

/// Returns, per block tensor, whether its value changes from iteration to iteration; false for all if the
/// loop runs once.
std::vector<bool> varies(const BlockGraph&);

/// Throws Error unless a shape's rank is 1 to max_rank (8), each extent is 1 to max_extent (2^31 - 1), and the
/// number of elements is at most max_elements (2^40). `what` names the tensor in the message.
void check_shape(const Where&, std::string_view what, const Shape&);

}  // namespace zellige::graph
