// Shapes, dtypes and the side of the loop, from the inputs down.
//
//   KernelGraph g = infer(std::move(sketch));   // every tensor has its shape, dtype, name and after_loop
//
// A shape that is already there is kept and must agree; a clash is an Error that names the operator. Strides
// are not touched. An operator runs after the loop when one of its operands does; its other operands must
// then not vary with the iteration.
#pragma once
#include <optional>

#include "graph/graph.hpp"
#include "graph/where.hpp"

namespace zellige::graph {

constexpr int max_rank = 8;
constexpr std::int64_t max_extent = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t max_elements = std::int64_t{1} << 40;

KernelGraph infer(KernelGraph);

/// The results of one computing operator (neither boundary nor custom), from its operands' shapes.
std::vector<Shape> infer_shapes(const Where&, OpKind, const Attributes&, const std::vector<Shape>& operands);

/// Of an operator whose operands are all of one dtype. Products of e4m3 or e5m2 are f32.
DType result_dtype(OpKind, const Attributes&, DType operands);

/// Refuses integers where the operator has no meaning for them, and scalars that are none.
void check_dtype(const Where&, OpKind, const Attributes&, DType operands, std::size_t count);

/// The tile that a block input sees in one iteration, of the tensor or of the larger shape that it names: zeros lie behind the tensor.
Shape input_tile(const Where&, const BlockOp&, const Shape& whole, const Dim3& grid, std::int64_t loop);

/// Where the tile of a block's iteration begins in the whole.
Shape tile_origin(const BlockOp&, const Shape& tile, const Dim3& block, std::int64_t iteration,
                  std::int64_t loop);

/// The kernel-level tensor that the blocks' tiles make together, or what is stored of it: the smaller shape that the output names, a slice.
Shape output_whole(const Where&, const BlockOp&, const Shape& tile, const Dim3& grid);

/// Where a block's tile begins in that tensor; none where the tile is not of the slice.
std::optional<Shape> stored_at(const BlockOp&, const Shape& tile, const Dim3& block);

/// For every block tensor: does its value change from iteration to iteration? Never where the loop runs once.
std::vector<bool> varies(const BlockGraph&);

/// Refuses a shape that no tensor may have: rank 1 to max_rank, extents 1 to max_extent, at most
/// max_elements.
void check_shape(const Where&, std::string_view what, const Shape&);

}  // namespace zellige::graph
