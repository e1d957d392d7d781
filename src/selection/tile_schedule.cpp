#include "selection/tile_schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <zellige/block/tile_scheduler.hpp>

namespace zellige::selection {
namespace {

/// Returns true if persistent blocks should alternate between tiles with many and tiles with few iterations.
/// This is so if the number of iterations rises along the masked grid axis, the axis has an even extent, and
/// blocks that take tiles in pairs have the same maximum number of tiles per block as without pairs.
bool longer_along_the_rows(const kernel::Kernel& kernel) {
  const tile::TileProgram& p = kernel.program;
  const std::int64_t extent = kernel.loop_bounds->row_blocks(p), tiles = p.grid.count();
  const auto trip_count = [&](std::int64_t block) { return kernel.loop_bounds->of(block, p.loop); };
  bool rises = extent % 2 == 0 && trip_count(0) < trip_count(extent - 1) && kernel.blocks > 0 &&
               2 * tile::ceil_div(tiles / 2, kernel.blocks) == tile::ceil_div(tiles, kernel.blocks);
  for (std::int64_t block = 1; block < extent; ++block) rises = rises && trip_count(block - 1) <= trip_count(block);
  return rises;
}

/// If exactly one dimension of a view is divided among blocks alone, returns its tiles. Otherwise returns an interval
/// without a grid axis.
tile::Interval divided_alone(const tile::TileView& v, const tile::TileProgram& p) {
  tile::Interval found;
  for (int d = 0; d < v.rank(); ++d)
    if (v.axis(d) >= 0 && !v.iterates(d)) {
      if (found.axis() >= 0) return {};
      found = v.along(d, p);
    }
  return found;
}

/// Returns the indices along the grid's axes of the first output tile of block number `block` of the launch.
std::array<std::int64_t, 3> first_tile(const kernel::Kernel& kernel, const TileSchedule& walk, std::int64_t block) {
  const graph::Dim3& grid = kernel.program.grid;
  const std::int64_t rows_each = kernel.cluster / kernel.parts_of_loop();  // blocks of a cluster with different tiles
  std::int64_t tile = block / kernel.cluster;
  std::array<std::int64_t, 3> at{};
  if (walk.rows > 0) {
    const auto number = [](std::int64_t n) { return static_cast<int>(n); };
    const TileOrder order{number(walk.rows / rows_each), number(walk.columns),
                          number(std::max<std::int64_t>(1, walk.group / rows_each))};
    const TileOrder::Place place = order(number(tile));
    const std::int64_t row = place.row * rows_each + block % rows_each;
    at[walk.column_axis] = place.column;
    at[walk.row_axis] = walk.row_axis == walk.column_axis ? row * walk.columns + place.column : row;
    return at;
  }
  std::int64_t below = 1;
  if (walk.longer >= 0) {
    for (int a = 0; a < walk.longer; ++a) below *= grid[a];
    tile = LongAndShort{static_cast<int>(below), static_cast<int>(grid[walk.longer])}(static_cast<int>(block), 0);
    below = 1;
  }
  for (int a = 0; a < 3; below *= grid[a++]) at[a] = tile::digit(tile, below, grid[a], below * grid[a] == grid.count());
  return at;
}

}  // namespace

TileSchedule tile_schedule(const kernel::Kernel& kernel, const kernel::Work* product) {
  const tile::TileProgram& p = kernel.program;
  if (kernel.loop_bounds)
    return longer_along_the_rows(kernel) ? TileSchedule{.longer = kernel.loop_bounds->rows.axis()} : TileSchedule{};
  if (!product) product = kernel::find_work(kernel, [](const kernel::Work& w) { return w.matmul.asynchronous(); });
  if (!product) return {};
  const kernel::MatmulChoice& m = product->matmul;
  const std::vector<int>& in = p.nodes[product->node].in;
  const tile::Interval row = divided_alone(p.nodes[in[0]].view, p), column = divided_alone(p.nodes[in[1]].view, p);
  if (row.axis() < 0 || column.axis() < 0) return {};
  TileSchedule walk{row.tiles(), column.tiles(), 1, row.axis(), column.axis()};
  const bool one_axis = row.axis() == column.axis() && column.run() == 1 && row.run() == column.tiles();
  const bool two_axes = row.axis() != column.axis() && row.run() == 1 && column.run() == 1;
  if ((!one_axis && !two_axes) || walk.rows * walk.columns != p.grid.count()) return {};
  // Number of rows of tiles in a group. Blocks in flight cover about a square of the output; the number is
  // a multiple of eight if there are enough rows (block/tile_scheduler.hpp). With split-K the two blocks of
  // a cluster have the same tile, and row by row was measured faster (docs/log.md).
  const double square = std::sqrt(static_cast<double>(kernel.blocks * m.columns()) / static_cast<double>(m.m));
  const std::int64_t rows = square < 8 ? std::llround(square) : 8 * std::llround(square / 8);
  walk.group = kernel.split_k ? 1 : std::clamp<std::int64_t>(rows, 1, walk.rows);
  return walk;
}

double shared_by_neighbours(const kernel::Kernel& kernel, const TileSchedule& walk, const tile::Node& load,
                            std::int64_t blocks) {
  const tile::TileProgram& p = kernel.program;
  if (kernel.split_k && load.view.iterates()) return 0;  // neighbours have different parts of the loop
  std::int64_t shared = 0;
  for (std::int64_t block = 0; block + 1 < blocks; block += 2) {
    const auto one = first_tile(kernel, walk, block), other = first_tile(kernel, walk, block + 1);
    bool same = true;
    for (int d = 0; d < load.view.rank(); ++d) {
      const tile::Interval along = load.view.along(d, p);
      same = same && (along.axis() < 0 || along.tile(one[along.axis()]) == along.tile(other[along.axis()]));
    }
    shared += same;
  }
  const std::int64_t pairs = blocks / 2;
  return pairs == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(pairs);
}

bool passes_once(const kernel::Kernel& kernel, const kernel::Step& copy) {
  if (copy.global != kernel::Global::constants) return false;
  const tile::TileProgram& p = kernel.program;
  return p.grid.count() / p.nodes[copy.work.node].view.tiles(p) <= (copy.work.part >= 0 ? kernel.cluster : 1);
}

}  // namespace zellige::selection
