// Infers shapes, dtypes and `after_loop` of all tensors from the inputs down.
//
//   KernelGraph g = infer(std::move(sketch));   // every tensor has its shape, dtype, name and after_loop
//
// A shape that is already set is kept and must agree; a conflict is an Error that names the operator. Strides
// are not changed. An operator runs after the loop if one of its operands does; its other operands must then
// not vary with the iteration.
#pragma once
#include <optional>

#include "graph/graph.hpp"
#include "graph/where.hpp"

namespace zellige::graph {

constexpr int max_rank = 8;
constexpr std::int64_t max_extent = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t max_elements = std::int64_t{1} << 40;

KernelGraph infer(KernelGraph);

/// Shapes of the results of one computing operator (neither boundary nor custom), from its operands' shapes.
std::vector<Shape> infer_shapes(const Where&, OpKind, const Attributes&, const std::vector<Shape>& operands);

/// Dtype of the result of an operator whose operands have one dtype. Matmuls of e4m3 or e5m2 give f32.
DType result_dtype(OpKind, const Attributes&, DType operands);

/// Throws Error for integers where the operator is not defined on them, and for an invalid scalar.
void check_dtype(const Where&, OpKind, const Attributes&, DType operands, std::size_t count);

/// The tile that a block input loads in one iteration, from the tensor or from the larger shape that it
/// names; elements outside the tensor are zeros.
Shape input_tile(const Where&, const BlockOp&, const Shape& whole, const Dim3& grid, std::int64_t loop);

/// Coordinates in the whole tensor at which the tile of one block and iteration begins.
Shape tile_origin(const BlockOp&, const Shape& tile, const Dim3& block, std::int64_t iteration,
                  std::int64_t loop);

/// Shape of the kernel-level tensor that the blocks' tiles form together, or of the stored part if the output
/// names a smaller shape, a slice.
Shape output_whole(const Where&, const BlockOp&, const Shape& tile, const Dim3& grid);

/// Coordinates at which a block's tile begins in that tensor; nothing if the tile is outside the slice.
std::optional<Shape> stored_at(const BlockOp&, const Shape& tile, const Dim3& block);

/// Returns, per block tensor, whether its value changes from iteration to iteration; never if the loop runs
/// once.
std::vector<bool> varies(const BlockGraph&);

/// Throws Error unless the rank is 1 to max_rank, the extents are 1 to max_extent and there are at most
/// max_elements elements.
void check_shape(const Where&, std::string_view what, const Shape&);

}  // namespace zellige::graph
