#include "graph/block_tiles.hpp"

#include "graph/infer.hpp"

namespace zellige::graph {

void check_axis(const Where& where, const BlockOp& op, int axis, const Shape& whole) {
  const int dim = op.map[axis];
  if (dim < -1 || dim >= static_cast<int>(whole.size()))
    fail_at(where, "expected grid axis {} to split a dimension of {}, or -1 for none, found {}", "xyz"[axis],
            to_string(whole), dim);
  for (int other = 0; dim >= 0 && other < axis; ++other)
    if (op.map[other] == dim)
      fail_at(where,
              "expected each dimension of {} to be split by one grid axis at most, found {} and {} on "
              "dimension {}",
              to_string(whole), "xyz"[other], "xyz"[axis], dim);
}

void check_loop_dim(const Where& where, const BlockOp& op, const Shape& whole) {
  if (op.loop_dim < -1 || op.loop_dim >= static_cast<int>(whole.size()))
    fail_at(where, "expected the loop to split a dimension of {}, or -1 for none, found {}", to_string(whole),
            op.loop_dim);
}

Shape input_tile(const Where& where, const BlockOp& op, const Shape& given, const Dim3& grid, std::int64_t loop) {
  const Shape whole = op.attributes.sizes.empty() ? given : op.attributes.sizes;
  if (!std::ranges::equal(given, whole, [](std::int64_t x, std::int64_t y) { return x <= y; }))
    fail_at(where, "expected a shape that {} lies in, found {}", to_string(given), to_string(whole));
  Shape tile = whole;
  for (int axis = 0; axis < 3; ++axis) {
    check_axis(where, op, axis, whole);
    const int dim = op.map[axis];
    if (dim == -1) continue;
    if (tile[dim] % grid[axis] != 0)
      fail_at(where, "expected grid axis {} to divide dimension {} of {}, found {} blocks for {}", "xyz"[axis], dim,
              to_string(whole), grid[axis], whole[dim]);
    tile[dim] /= grid[axis];
  }
  check_loop_dim(where, op, whole);
  if (op.loop_dim == -1) return tile;
  if (tile[op.loop_dim] % loop != 0)
    fail_at(where, "expected the loop to divide dimension {} of a block's part {} of {}, found {} iterations for {}",
            op.loop_dim, to_string(tile), to_string(whole), loop, tile[op.loop_dim]);
  tile[op.loop_dim] /= loop;
  return tile;
}

Shape tile_origin(const BlockOp& op, const Shape& tile, const Dim3& block, std::int64_t iteration, std::int64_t loop) {
  Shape origin(tile.size(), 0);
  for (int axis = 0; axis < 3; ++axis)
    if (op.map[axis] >= 0) origin[op.map[axis]] = block[axis];
  if (op.loop_dim >= 0) origin[op.loop_dim] = origin[op.loop_dim] * loop + iteration;
  for (std::size_t d = 0; d < tile.size(); ++d) origin[d] *= tile[d];
  return origin;
}

Shape output_whole(const Where& where, const BlockOp& op, const Shape& tile, const Dim3& grid) {
  Shape whole = tile;
  for (int axis = 0; axis < 3; ++axis) {
    const int dim = op.map[axis];
    if (dim == -1) {
      if (grid[axis] > 1)
        fail_at(where,
                "expected grid axis {} with its {} blocks to concatenate along a dimension of the tile {}, "
                "found -1: every block would write the same elements",
                "xyz"[axis], grid[axis], to_string(tile));
      continue;
    }
    if (dim < 0 || dim >= static_cast<int>(tile.size()))
      fail_at(where, "expected grid axis {} to concatenate along a dimension of the tile {}, found {}", "xyz"[axis],
              to_string(tile), dim);
    for (int other = 0; other < axis; ++other)
      if (op.map[other] == dim)
        fail_at(where,
                "expected each dimension of the tile {} to be concatenated by one grid axis at most, found {} "
                "and {} on dimension {}",
                to_string(tile), "xyz"[other], "xyz"[axis], dim);
    if (op.attributes.sizes.empty() && whole[dim] > max_extent / grid[axis])
      fail_at(where, "expected dimension {} of the output to be at most {}, found {} blocks of {}", dim, max_extent,
              grid[axis], whole[dim]);
    whole[dim] *= grid[axis];
  }
  const Attributes& a = op.attributes;
  if (!a.sizes.empty()) {
    if (!std::ranges::equal(a.sizes, whole, [](std::int64_t x, std::int64_t y) { return 1 <= x && x <= y; }))
      fail_at(where, "expected a shape that lies in {}, which the blocks leave, found {}", to_string(whole),
              to_string(a.sizes));
    whole = a.sizes;  // which may be less than what the last tiles extend to
    if (const std::int64_t longest = std::ranges::max(whole); longest > max_extent)
      fail_at(where, "expected dimensions of the output of at most {}, found {}", max_extent, longest);
  }
  if (a.dim < 0) return whole;
  if (a.dim >= static_cast<int>(tile.size()))
    fail_at(where, "expected dim to be a dimension of the tile {}, found {}", to_string(tile), a.dim);
  const std::int64_t each = tile[a.dim];
  const bool ends = a.end % each == 0 || a.end == whole[a.dim];
  if (a.start < 0 || a.end <= a.start || a.end > whole[a.dim] || a.start % each != 0 || !ends)
    fail_at(where,
            "expected start and end to be whole tiles of {} along dimension {}, one after the other, within "
            "0 and {}, found {} and {}",
            each, a.dim, whole[a.dim], a.start, a.end);
  whole[a.dim] = a.end - a.start;
  return whole;
}

std::optional<Shape> stored_at(const BlockOp& op, const Shape& tile, const Dim3& block) {
  Shape origin = tile_origin(op, tile, block, 0, 1);
  if (op.attributes.dim < 0) return origin;
  std::int64_t& along = origin[op.attributes.dim];
  if (along < op.attributes.start || along >= op.attributes.end) return std::nullopt;
  along -= op.attributes.start;
  return origin;
}

}  // namespace zellige::graph
