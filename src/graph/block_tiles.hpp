// Which part of a kernel-level tensor a block has: the tiles that input operators of a block graph load and output
// operators store.
#pragma once
#include <algorithm>

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

/// Calls copy(offset in the tensor, offset in the tile, count) for each row (last dimension) of a tile that
/// begins at the coordinates `origin` of a dense row-major tensor. Skips elements beyond the tensor's end.
template <class Copy>
void copy_tile(const Shape& whole, const Shape& tile, const Shape& origin, const Copy& copy) {
  const Strides steps = row_major(whole);
  const std::size_t rank = tile.size();
  const std::int64_t n = tile[rank - 1], rows = size(tile) / n;
  const std::int64_t inside = std::min(n, whole[rank - 1] - origin[rank - 1]);
  for (std::int64_t row = 0; row < rows && inside > 0; ++row) {
    std::int64_t rest = row, at = origin[rank - 1];
    bool within = true;
    for (std::size_t d = rank - 1; d-- > 0;) {
      within = within && origin[d] + rest % tile[d] < whole[d];
      at += (origin[d] + rest % tile[d]) * steps[d];
      rest /= tile[d];
    }
    if (within) copy(at, row * n, inside);
  }
}

}  // namespace zellige::graph
