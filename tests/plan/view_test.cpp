// Views: what they answer about tiles, for random cuts, is what the definition of Cut says of each element of each
// block's tile in each iteration.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>
#include <zellige/layout/runtime.hpp>

#include "tile/program.hpp"

namespace zellige::plan {
namespace {

/// The coordinate of an element of a tile, by the definition of Cut.
std::int64_t coordinate(const tile::Cut& c, const tile::TileProgram& p, const graph::Shape& block,
                        std::int64_t iteration, std::int64_t in_tile) {
  std::int64_t number = c.axis < 0 ? 0 : block[static_cast<std::size_t>(c.axis)] / c.div;
  if (c.mod > 0) number %= c.mod;
  return c.offset + (number * (c.loop ? p.loop : 1) + (c.loop ? iteration : 0)) * c.tile + in_tile;
}

/// Calls visit(block, iteration) for every block of the grid and every iteration.
template <class Visit>
void for_each_tile(const tile::TileProgram& p, Visit visit) {
  for (std::int64_t z = 0; z < p.grid.z; ++z)
    for (std::int64_t y = 0; y < p.grid.y; ++y)
      for (std::int64_t x = 0; x < p.grid.x; ++x)
        for (std::int64_t i = 0; i < p.loop; ++i) visit(graph::Shape{x, y, z}, i);
}

/// A program without nodes, and a view of three dimensions that its blocks and iterations divide at random.
struct Drawn {
  tile::TileProgram p;
  tile::TileView v;

  explicit Drawn(std::mt19937& random) {
    const auto draw = [&](std::int64_t low, std::int64_t high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    p.grid = {draw(1, 13), draw(1, 4), draw(1, 3)};
    p.loop = draw(1, 4);
    const std::int64_t looped = draw(-1, 2);
    for (int d = 0; d < 3; ++d) {
      tile::Cut c{.axis = static_cast<int>(draw(-1, 2)), .loop = p.loop > 1 && d == looped, .tile = draw(1, 6)};
      if (c.axis >= 0) c.div = draw(1, p.grid[c.axis]), c.mod = draw(0, 1) * draw(1, p.grid[c.axis]);
      c.offset = draw(-8, 8);
      v.cuts.push_back(c);
      const std::int64_t reach = v.along(d, p).reach() - c.offset;
      v.cuts.back().extent = draw(0, 1) ? reach : draw(1, reach);
      v.cuts.back().overhang = v.cuts.back().extent < reach;
    }
  }
};

// A vector that begins inside and ends in the padding of its line is whole; one that ends beyond it is not.
TEST(View, TheEndPartsVectorsThatReachBeyondTheRoom) {
  for (std::int64_t extent = 1; extent <= 24; ++extent)
    for (std::int64_t room = 0; room <= 8; ++room)
      for (const std::int64_t count : {1, 2, 4, 8}) {
        tile::TileView v;
        v.cuts.push_back({.tile = 32, .extent = extent, .overhang = true});
        v.give_room(0, room);
        bool parted = false;
        for (std::int64_t at = 0; at < extent; at += count) parted = parted || at + count > extent + room;
        EXPECT_EQ(v.straddles_end(0, count), parted) << extent << " " << room << " " << count;
      }
}

// What line_padding() gives a store belongs to no element, after any line of the tensor.
TEST(View, ThePaddingOfALineBelongsToNoElement) {
  std::mt19937 random(41);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  int padded = 0;
  for (int i = 0; i < 500; ++i) {
    tile::TilePrograms p;
    graph::KernelTensor t{.shape = {draw(1, 4), draw(1, 4), draw(1, 9)}, .strides = {0, 0, 0}};
    std::vector<int> dims{0, 1, 2};
    std::ranges::shuffle(dims, random);
    std::int64_t next = 1;
    for (const int d : dims) t.strides[d] = next, next *= t.shape[d] + (draw(0, 2) == 0 ? draw(0, 5) : 0);
    p.tensors = {t};
    std::set<std::int64_t> elements;
    for (std::int64_t a = 0; a < t.shape[0]; ++a)
      for (std::int64_t b = 0; b < t.shape[1]; ++b)
        for (std::int64_t c = 0; c < t.shape[2]; ++c)
          elements.insert(a * t.strides[0] + b * t.strides[1] + c * t.strides[2]);
    for (int d = 0; d < 3; ++d) {
      const std::int64_t room = p.line_padding(0, d);
      if (room == 0) continue;
      ++padded;
      EXPECT_EQ(t.strides[d], 1);
      for (const std::int64_t e : elements)
        if (!elements.contains(e + 1))
          for (std::int64_t r = 1; r <= room; ++r) EXPECT_FALSE(elements.contains(e + r)) << i << " " << e << " " << r;
    }
    p.inputs = {0};
    for (int d = 0; d < 3; ++d) EXPECT_EQ(p.line_padding(0, d), 0) << "the caller's memory";
  }
  EXPECT_GT(padded, 50);
}

TEST(View, EveryTileIsWhereTheDefinitionSays) {
  std::mt19937 random(37);
  int replicated = 0, composed = 0;
  for (int draw = 0; draw < 300; ++draw) {
    const Drawn drawn(random);
    for (int d = 0; d < 3; ++d) {
      const tile::Cut& c = drawn.v.cuts[static_cast<std::size_t>(d)];
      const tile::Interval along = drawn.v.along(d, drawn.p);
      const Value map = along.map();
      std::int64_t last = along.origin(), common = along.origin();
      std::set<std::int64_t> starts;
      for_each_tile(drawn.p, [&](const graph::Shape& at, std::int64_t i) {
        const std::int64_t block = along.axis() < 0 ? 0 : at[static_cast<std::size_t>(along.axis())];
        const std::int64_t start = coordinate(c, drawn.p, at, i, 0);
        ASSERT_EQ(along.start(block, i), start) << to_text(map);
        ASSERT_EQ(along.origin() + along.first(along.tile(block), i), start) << to_text(map);
        for (std::int64_t x = 0; x < c.tile; ++x) {
          // In an iteration of which the map knows nothing, the tile is that of the first one.
          const std::int64_t iteration = c.loop ? i : 0;
          ASSERT_EQ(along.origin() + index(map, {block, iteration, x}), coordinate(c, drawn.p, at, i, x))
              << to_text(map);
        }
        starts.insert(start), common = std::gcd(common, start), last = std::max(last, start + c.tile - 1);
      });
      EXPECT_EQ(along.reach(), last + 1) << to_text(map);
      EXPECT_EQ(along.origin() + cosize(map), last + 1) << to_text(map);
      EXPECT_EQ(along.origin(), *starts.begin());
      if (drawn.v.fixed(d)) EXPECT_EQ(starts.size(), 1u);
      EXPECT_EQ(common % std::max<std::int64_t>(drawn.v.alignment(d), 1), 0);
      if (starts.size() > 1) EXPECT_EQ(drawn.v.alignment(d), common) << to_text(map);
      const std::int64_t blocks = along.axis() < 0 ? 1 : drawn.p.grid[along.axis()];
      replicated += along.run() > 1, composed += along.run() * along.tiles() < blocks;
    }
  }
  EXPECT_GT(replicated, 100);
  EXPECT_GT(composed, 30);
}

TEST(View, NumbersTilesAsAnotherIfEachBlockHasTheSameNumber) {
  std::mt19937 random(41);
  int equal = 0, different = 0;
  for (int draw = 0; draw < 300; ++draw) {
    const Drawn drawn(random);
    for (int d = 0; d < 3; ++d)
      for (int e = 0; e < 3; ++e) {
        tile::TileView moved = drawn.v;
        moved.move({1, 2, 3});  // where the tiles lie does not matter
        const tile::Interval a = drawn.v.along(d, drawn.p), b = moved.along(e, drawn.p);
        bool same = a.axis() == b.axis();
        const std::int64_t blocks = same && a.axis() >= 0 ? drawn.p.grid[a.axis()] : 1;
        for (std::int64_t block = 0; block < blocks; ++block) same = same && a.tile(block) == b.tile(block);
        if (d == e) EXPECT_TRUE(a.numbered_as(b));
        if (a.numbered_as(b)) EXPECT_TRUE(same) << draw << ": " << d << " and " << e;
        (same ? equal : different) += d != e;
      }
  }
  EXPECT_GT(equal, 100);
  EXPECT_GT(different, 100);
}

TEST(View, CountsWhatLiesInside) {
  std::mt19937 random(38);
  int shared = 0, partial = 0;
  for (int draw = 0; draw < 1000; ++draw) {
    const Drawn drawn(random);
    const tile::TileProgram& p = drawn.p;
    std::vector<std::uint64_t> inside(static_cast<std::size_t>(p.loop));
    std::set<std::vector<std::int64_t>> tiles;
    for_each_tile(p, [&](const graph::Shape& at, std::int64_t i) {
      std::uint64_t product = 1;
      std::vector<std::int64_t> starts;
      for (int d = 0; d < 3; ++d) {
        const tile::Cut& c = drawn.v.cuts[static_cast<std::size_t>(d)];
        std::uint64_t along = 0;
        for (std::int64_t x = 0; x < c.tile; ++x) along += coordinate(c, p, at, i, x) < drawn.v.end(d);
        product *= along, partial += along > 0 && along < static_cast<std::uint64_t>(c.tile);
        starts.push_back(coordinate(c, p, at, i, 0));
      }
      inside[static_cast<std::size_t>(i)] += product;
      if (i == 0) tiles.insert(starts);
    });
    for (std::int64_t i = 0; i < p.loop; ++i)
      EXPECT_EQ(drawn.v.inside(p, i), inside[static_cast<std::size_t>(i)]) << draw << " iteration " << i;
    std::set<int> axes;
    bool independent = true;  // no axis divides two dimensions: then the tiles are all combinations
    for (int d = 0; d < 3; ++d)
      independent = independent && (drawn.v.axis(d) < 0 || axes.insert(drawn.v.axis(d)).second);
    if (independent) EXPECT_EQ(drawn.v.tiles(p), static_cast<std::int64_t>(tiles.size())) << draw;
    shared += !independent;
  }
  EXPECT_GT(shared, 200);
  EXPECT_GT(partial, 500);
}

TEST(View, StraddlesTheEndWhereNeighboursDo) {
  std::mt19937 random(39);
  int straddling = 0;
  for (int draw = 0; draw < 500; ++draw) {
    Drawn drawn(random);
    const tile::TileProgram& p = drawn.p;
    const std::int64_t count = std::int64_t{1} << draw % 3;
    tile::Cut& c = drawn.v.cuts[0];
    c.tile *= count;  // whole neighbourhoods; the end may lie within one
    const std::int64_t reach = drawn.v.along(0, p).reach() - c.offset;
    c.extent = std::min(c.extent, reach), c.overhang = c.extent < reach;
    bool found = false, beyond = false;
    for_each_tile(p, [&](const graph::Shape& at, std::int64_t i) {
      for (std::int64_t x = 0; x < c.tile; x += count) {
        const std::int64_t first = coordinate(c, p, at, i, x), end = drawn.v.end(0);
        found = found || (first < end && end < first + count), beyond = beyond || first + count > end;
      }
    });
    EXPECT_EQ(drawn.v.straddles_end(0, count), found) << draw;
    EXPECT_EQ(drawn.v.predicated(0), beyond) << draw;
    EXPECT_EQ(drawn.v.predicated(), drawn.v.predicated(0) || drawn.v.predicated(1) || drawn.v.predicated(2));
    straddling += found;
  }
  EXPECT_GT(straddling, 50);
}

TEST(View, OverAGridCoversATensorOnce) {
  std::mt19937 random(40);
  for (int draw = 0; draw < 200; ++draw) {
    graph::Shape extent, tile, steps;
    tile::TileProgram p;
    for (int d = 0; d < 3; ++d) {
      extent.push_back(1 + static_cast<std::int64_t>(random() % 9));
      tile.push_back(1 + static_cast<std::int64_t>(random() % 5));
      steps.push_back(tile::ceil_div(extent.back(), tile.back()));
    }
    p.grid.x = graph::size(steps);
    const tile::TileView v = tile::TileView::over_grid(extent, tile, steps);
    std::map<graph::Shape, int> found;
    std::vector<bool> beyond(3);
    for_each_tile(p, [&](const graph::Shape& block, std::int64_t) {
      for (std::int64_t i = 0; i < v.tile(0) * v.tile(1) * v.tile(2); ++i) {
        graph::Shape at;
        for (std::int64_t d = 3, rest = i; d-- > 0; rest /= v.tile(static_cast<int>(d)))
          at.insert(at.begin(),
                    coordinate(v.cuts[static_cast<std::size_t>(d)], p, block, 0, rest % v.tile(static_cast<int>(d))));
        bool inside = true;
        for (std::size_t d = 0; d < 3; ++d)
          if (at[d] >= extent[d]) inside = false, beyond[d] = true;
        if (inside) ++found[at];
      }
    });
    EXPECT_EQ(found.size(), static_cast<std::size_t>(graph::size(extent)));
    for (const auto& [at, times] : found) EXPECT_EQ(times, 1) << graph::to_string(at);
    for (int d = 0; d < 3; ++d) EXPECT_EQ(v.predicated(d), beyond[static_cast<std::size_t>(d)]) << d;
    tile::TileView moved = v;
    moved.move({1, 2, 3});
    for (int d = 0; d < 3; ++d) {
      EXPECT_EQ(moved.origin(d), v.origin(d) + d + 1);
      EXPECT_EQ(moved.end(d), v.end(d) + d + 1);
    }
  }
}

}  // namespace
}  // namespace zellige::plan
