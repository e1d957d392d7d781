// The proof that persistent blocks take each tile of the output once, against a run of all blocks in the order of tile_schedule():
// random grids, numbers of blocks and clusters, with one number changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <zellige/block/tile_scheduler.hpp>

#include "../all_cases.hpp"
#include "graph/error.hpp"
#include "random/rng.hpp"
#include "selection/tile_schedule.hpp"
#include "target/instructions.hpp"
#include "verify/proofs.hpp"

namespace zellige::plan {
namespace {

using random_graphs::Rng;

/// Returns a product in tiles of 64 x 64 by wgmma, whose rows and columns one axis of the grid numbers, or two.
kernel::Kernel persistent_product(Rng& rng) {
  const std::int64_t rows = rng.between(1, 9), columns = rng.between(1, 6);
  const bool one_axis = rng.chance(50);
  kernel::Kernel k{
      .threads = 384, .cluster = static_cast<int>(std::int64_t{1} << rng.below(3)), .split_k = rng.chance(30)};
  tile::TileProgram& p = k.program;
  p.name = "k", p.block = {128, 1, 1}, p.loop = 8;
  const int across = rng.chance(50) && !one_axis ? 1 : 0, down = one_axis ? 0 : 1 - across;
  if (one_axis) p.grid.x = rows * columns;
  if (!one_axis) (across == 0 ? p.grid.x : p.grid.y) = columns, (down == 0 ? p.grid.x : p.grid.y) = rows;
  const tile::Cut m{.axis = down, .div = one_axis ? columns : 1, .mod = rows, .tile = 64, .extent = 64 * rows};
  const tile::Cut n{.axis = across, .mod = columns, .tile = 64, .extent = 64 * columns};
  const tile::Cut depth{.loop = true, .tile = 64, .extent = 512};
  const graph::Shape tile{64, 64};
  p.add({.kind = tile::NodeKind::load,
         .shape = tile,
         .dtype = graph::DType::f16,
         .tensor = 0,
         .view = {{m, depth}},
         .name = "A"});
  p.add({.kind = tile::NodeKind::load,
         .shape = tile,
         .dtype = graph::DType::f16,
         .tensor = 0,
         .view = {{depth, n}},
         .name = "B"});
  p.add({.kind = tile::NodeKind::matmul, .in = {0, 1}, .shape = tile, .carried = true});
  p.add({.kind = tile::NodeKind::store, .in = {2}, .shape = tile, .tensor = 0, .view = {{m, n}}, .name = "C"});
  return k;
}

/// Gives the kernel's role a loop over the tiles of a block, in which it multiplies.
void take_tiles(kernel::Kernel& k) {
  const std::int64_t all = k.program.grid.count() * k.parts_of_loop();
  kernel::Step mma{.is = kernel::Mma{}, .work = {.kind = kernel::WorkKind::mma, .node = 2}};
  mma.work.matmul = {.row = target::find_warpgroup_mma(target::find("sm_90a"), "f16", "f16", "f32", 64, false),
                     .m = 64,
                     .n = 64,
                     .k = 64};
  const kernel::Loop tiles{.kind = kernel::Loop::tiles,
                           .trip_count = tile::ceil_div(all, k.blocks),
                           .each = k.iterations_per_block(),
                           .body = {std::move(mma)}};
  k.agents = {{.name = "consumer", .warps = 4, .steps = {{.is = tiles}}}};
}

/// Lets all blocks take their tiles, as tiles() (emit/role_text.cpp) emits the loop. Returns whether each tile is taken once, by all parts of
/// its loop, and whether a block has the number that the loop says.
bool once(const kernel::Kernel& k) {
  const graph::Dim3& grid = k.program.grid;
  const kernel::Loop& loop = *kernel::as<kernel::Loop>(k.agents[0].steps[0]);
  const selection::TileSchedule walk = selection::tile_schedule(k);
  const std::int64_t rows_each = k.cluster / k.parts_of_loop(), all = grid.count();
  if (k.blocks % k.cluster != 0 || walk.rows % rows_each != 0 || loop.from != 0 ||
      loop.each != k.iterations_per_block())
    return false;
  std::vector<int> times(static_cast<std::size_t>(all), 0);
  std::int64_t max_taken = 0;
  for (std::int64_t block = 0; block < k.blocks; ++block) {
    std::int64_t taken = 0;
    for (std::int64_t tile = block / k.cluster; taken == 0 || (loop.trip_count > 1 && tile < all / rows_each);
         tile += k.blocks / k.cluster) {
      if (tile >= all / rows_each && loop.trip_count > 1) break;
      if (tile >= all / rows_each) return false;
      std::int64_t index = tile;
      if (walk.rows > 0) {
        const TileOrder order{static_cast<int>(walk.rows / rows_each), static_cast<int>(walk.columns),
                              static_cast<int>(std::max<std::int64_t>(1, walk.group / rows_each))};
        const TileOrder::Place place = order(static_cast<int>(tile));
        const std::int64_t row = place.row * rows_each + (rows_each > 1 ? block % k.cluster : 0), column = place.column;
        index = walk.row_axis == walk.column_axis ? row * walk.columns + column
                : walk.row_axis == 0              ? row + column * grid.x
                                                  : column + row * grid.x;
        if (row >= walk.rows) return false;
      }
      ++times[static_cast<std::size_t>(index)], ++taken;
    }
    max_taken = std::max(max_taken, taken);
  }
  return max_taken == loop.trip_count && std::ranges::all_of(times, [&](int n) { return n == k.parts_of_loop(); });
}

TEST(PersistentBlocks, AreAcceptedIfTheyTakeEachTileOnce) {
  Rng rng(1);
  int right = 0, wrong = 0;
  const tile::TilePrograms program{.tensors = {{.shape = {1000, 1000}}}};
  for (int i = 0, n = test::all_cases() ? 200'000 : 10'000; i < n && !HasFailure(); ++i) {
    kernel::Kernel k = persistent_product(rng);
    k.split_k = k.split_k && k.cluster > 1;
    const std::int64_t all = k.program.grid.count() * k.parts_of_loop();
    k.blocks = rng.between(1, std::max<std::int64_t>(all / k.cluster, 1)) * k.cluster;
    take_tiles(k);
    kernel::Loop& loop = *kernel::as<kernel::Loop>(k.agents[0].steps[0]);
    if (rng.chance(50)) {
      const std::int64_t by = rng.chance(50) ? 1 : -1;
      std::int64_t* const numbers[] = {&k.blocks, &loop.trip_count, &loop.from, &loop.each};
      std::int64_t& number = *numbers[rng.below(4)];
      number = std::max<std::int64_t>(number + by, &number == &loop.from ? 0 : 1);
      if (rng.chance(20)) k.cluster *= 2;
    }
    std::string message;
    try {
      verify::verify_coverage(k, program);
    } catch (const Rejected& e) {
      message = e.what();
    }
    const bool is_right = once(k);
    EXPECT_EQ(message == "", is_right) << fmt::format(
        "draw {}: grid ({},{},1) blocks {} cluster {}{}, {} to {} tiles of {}\n{}", i, k.program.grid.x,
        k.program.grid.y, k.blocks, k.cluster, k.split_k ? " split_k" : "", loop.from, loop.trip_count, loop.each,
        message);
    (is_right ? right : wrong) += 1;
  }
  EXPECT_GT(right, 1000);
  EXPECT_GT(wrong, 2000);
}

}  // namespace
}  // namespace zellige::plan
