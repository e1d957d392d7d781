// Which part of a kernel-level tensor a block has: the tiles that input operators of a block graph load and output
// operators store.
#pragma once
#include <optional>

#include "graph/graph.hpp"
#include "graph/where.hpp"

namespace zellige::graph {

/// Throws Error unless grid axis `axis` splits no dimension of `whole` (-1), or one that no earlier axis splits.
void check_axis(const Where&, const BlockOp&, int axis, const Shape& whole);
/// Throws Error unless the loop splits no dimension of `whole` (-1), or one of them.
void check_loop_dim(const Where&, const BlockOp&, const Shape& whole);

/// Returns the shape of the tile that an input operator loads in one block and iteration, from a tensor of
/// shape `whole`. If the operator's attributes have a larger shape, the tensor is padded to that shape with
/// zeros. Throws Error if the grid or the loop does not divide a dimension that it splits.
Shape input_tile(const Where&, const BlockOp&, const Shape& whole, const Dim3& grid, std::int64_t loop);

/// Returns the coordinates, in the whole tensor, of the first element of the tile that belongs to one block
/// and iteration. `tile`: shape of the tile; `loop`: number of iterations.
Shape tile_origin(const BlockOp&, const Shape& tile, const Dim3& block, std::int64_t iteration, std::int64_t loop);

/// Returns the shape of the kernel-level tensor that an output operator stores: the concatenation of the
/// tiles of all blocks, or the part of it that the operator's attributes select (a slice, or a smaller shape
/// without padding). Throws Error if several blocks would write the same elements.
Shape output_whole(const Where&, const BlockOp&, const Shape& tile, const Dim3& grid);

/// Returns the coordinates, in the stored tensor, of the first element of a block's tile. Returns nullopt if
/// the operator stores a slice and the tile is outside of it.
std::optional<Shape> stored_at(const BlockOp&, const Shape& tile, const Dim3& block);

}  // namespace zellige::graph
