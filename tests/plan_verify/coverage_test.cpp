// The proof that blocks store each element once, against an enumeration of all blocks: views whose tiles the digits of the
// blocks' indices number, as the planner makes them and with one number changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "../all_cases.hpp"
#include "graph/error.hpp"
#include "random/rng.hpp"
#include "verify/proofs.hpp"

namespace zellige::plan {
namespace {

using random_graphs::Rng;

/// The numbers of a store: of the grid, and of each dimension. By rows: where a row of dimension 0 is stored, an index says.
struct Drawn {
  tile::TileProgram program;
  bool by_rows = false;
  tile::Node& store() { return program.nodes.back(); }
  /// Returns the view whose tiles number the elements that are stored along a dimension.
  tile::TileView& numbers(int d) { return program.nodes[by_rows && d == 0 ? 1 : 2].view; }
};

/// Returns a store each of whose elements one block stores: a load of numbers, a load of indices, and the store of the numbers.
Drawn drawn(Rng& rng) {
  Drawn result;
  tile::TileProgram& p = result.program;
  p.name = "k", p.block = {32, 1, 1};
  const auto rank = static_cast<std::size_t>(rng.between(1, 3));
  tile::TileView view{std::vector<tile::Cut>(rank)};
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  std::int64_t grid[3] = {1, 1, 1};
  tile::Cut* top[3] = {};
  for (const std::size_t d : order) {
    tile::Cut& c = view.cuts[d];
    const std::int64_t tiles = rng.between(1, 4);
    c.tile = rng.between(1, 4), c.extent = tiles * c.tile - (rng.chance(40) ? rng.below(c.tile) : 0),
    c.overhang = c.extent % c.tile != 0 || rng.chance(30);
    if (rng.chance(30)) c.offset = rng.chance(50) ? rng.between(1, 5) : -std::min(rng.between(1, 3), c.extent - 1);
    c.overhang = c.overhang || c.offset < 0;
    if (tiles == 1 && rng.chance(80)) continue;
    c.axis = static_cast<int>(rng.below(3));
    c.div = grid[c.axis], c.mod = tiles, grid[c.axis] *= tiles;
    top[c.axis] = &c;
  }
  for (int axis = 0; axis < 3; ++axis)
    if (top[axis] && rng.chance(50)) {
      top[axis]->mod = 0;
      const std::int64_t more = rng.chance(20) ? rng.below(top[axis]->div) : 0;  // blocks of a tile beyond the end
      grid[axis] += more, top[axis]->overhang = top[axis]->overhang || more > 0;
    }
  p.grid = {grid[0], grid[1], grid[2]};
  const graph::Shape shape(rank, 1);
  const tile::TileView one{std::vector<tile::Cut>(rank)};
  p.add({.kind = tile::NodeKind::load, .shape = shape, .tensor = 0, .view = one, .name = "X"});
  p.add({.kind = tile::NodeKind::load,
         .shape = shape,
         .dtype = graph::DType::int32,
         .tensor = 0,
         .view = one,
         .name = "I"});
  p.add({.kind = tile::NodeKind::store, .in = {0}, .shape = shape, .tensor = 0, .view = view, .name = "Y"});
  if (rng.chance(20)) {  // as a scatter's, or as a slice_scatter's at an index
    tile::Node& store = result.store();
    store.in.push_back(1);
    store.to = view.cuts[0].extent;
    result.by_rows = (rng.chance(50) || store.to == 1) && view.origin(0) >= 0;
    if (result.by_rows) store.to = 1;
    if (result.by_rows) p.nodes[1].view.cuts[0] = std::exchange(store.view.cuts[0], {.tile = 9, .extent = 9});
  }
  return result;
}

/// Changes one number.
void change(Rng& rng, Drawn& d) {
  tile::TileProgram& p = d.program;
  const int dim = static_cast<int>(rng.below(d.store().view.rank()));
  tile::Cut& c = d.numbers(dim).cuts[static_cast<std::size_t>(dim)];
  const std::int64_t by = rng.chance(50) ? 1 : rng.between(-2, 3);
  const auto add = [&](std::int64_t& to, std::int64_t minimum) { to = std::max(to + by, minimum); };
  switch (rng.below(8)) {
    case 0:
      return add(rng.chance(50) ? p.grid.x : rng.chance(50) ? p.grid.y : p.grid.z, 1);
    case 1:
      return add(c.div, 1);
    case 2:
      return add(c.mod, 0);
    case 3:
      return add(c.tile, 1);
    case 4:
      return add(c.extent, 1);
    case 5:
      c.overhang = !c.overhang;
      return;
    case 6:
      c.axis = static_cast<int>(rng.between(-1, 2));
      return;
    default:
      c.div *= 2;
  }
}

struct Counted {
  bool once = true;     // each element is stored once, and nothing beyond the end without a bounds check
  bool beyond = false;  // a tile of a block lies beyond the end
};

/// Lets all blocks store their tiles.
Counted counted(Drawn& d) {
  const tile::TileProgram& p = d.program;
  const int rank = p.nodes.back().view.rank();
  std::vector<tile::Interval> along;
  std::vector<std::int64_t> low, step;
  std::int64_t all = 1;
  for (int k = 0; k < rank; ++k) {
    along.push_back(d.numbers(k).along(k, p));
    low.push_back(std::max<std::int64_t>(along.back().origin(), 0));
    step.push_back(all);
    all *= std::max<std::int64_t>(along.back().end() - low.back(), 0);
  }
  Counted result;
  bool outside = false;
  std::vector<int> times(static_cast<std::size_t>(all), 0);
  for (std::int64_t block = 0; block < p.grid.count(); ++block) {
    const std::int64_t index[3] = {block % p.grid.x, block / p.grid.x % p.grid.y, block / (p.grid.x * p.grid.y)};
    std::vector<std::int64_t> places{0};
    for (int k = 0; k < rank; ++k) {
      const tile::Interval& a = along[k];
      const std::int64_t first = a.start(a.axis() < 0 ? 0 : index[a.axis()], 0);
      const std::int64_t tile = d.numbers(k).tile(k);
      outside = outside || (!d.numbers(k).predicated(k) && (first < 0 || first + tile > a.end()));
      std::vector<std::int64_t> next;
      for (std::int64_t at = std::max(first, low[k]); at < std::min(first + tile, a.end()); ++at)
        for (const std::int64_t place : places) next.push_back(place + (at - low[k]) * step[k]);
      result.beyond = result.beyond || next.empty();
      places = std::move(next);
    }
    for (const std::int64_t place : places) ++times[static_cast<std::size_t>(place)];
  }
  result.once = !outside && std::ranges::all_of(times, [](int n) { return n == 1; });
  return result;
}

/// Returns whether two digits of an index overlap, as block % 3 and block % 2 do: of 6 blocks they number all 6 tiles.
bool overlapping(Drawn& d) {
  const tile::TileProgram& p = d.program;
  for (int k = 0; k < d.store().view.rank(); ++k)
    for (int e = 0; e < k; ++e) {
      const tile::Interval a = d.numbers(k).along(k, p), b = d.numbers(e).along(e, p);
      if (a.axis() == b.axis() && std::min(a.tiles(), b.tiles()) > 1 && a.run() < b.run() * b.tiles() &&
          b.run() < a.run() * a.tiles())
        return true;
    }
  return false;
}

/// Returns what the proof says of a kernel; "" if it accepts.
std::string verdict(const kernel::Kernel& k) {
  try {
    verify::verify_coverage(k, tile::TilePrograms{.tensors = {{.shape = graph::Shape(3, 1000)}}});
  } catch (const Rejected& e) {
    return e.what();
  }
  return "";
}

TEST(Coverage, OfOneElementWhereAnIndexSaysIsWhole) {
  kernel::Kernel k;
  tile::TileProgram& p = k.program;
  p.name = "k", p.block = {32, 1, 1}, p.grid = {2, 1, 1};
  const tile::TileView one{{tile::Cut{}, tile::Cut{}}},
      view{{tile::Cut{.extent = 9}, tile::Cut{.axis = 0, .mod = 2, .tile = 4, .extent = 8}}};
  p.add({.kind = tile::NodeKind::load, .shape = {1, 4}, .tensor = 0, .view = one, .name = "X"});
  p.add({.kind = tile::NodeKind::load,
         .shape = {1, 1},
         .dtype = graph::DType::int32,
         .tensor = 0,
         .view = one,
         .name = "I"});
  p.add({.kind = tile::NodeKind::store, .in = {0, 1}, .shape = {1, 4}, .tensor = 0, .view = view, .name = "Y"});
  EXPECT_EQ(verdict(k), "");
  p.nodes.back().in.pop_back();
  EXPECT_EQ(verdict(k),
            "k: the tiles of store Y end at 1 of dimension 0, and the store at 9: nothing writes what lies between");
}

std::string text(Drawn& d) {
  const tile::TileProgram& p = d.program;
  std::string all = fmt::format("grid ({},{},{})", p.grid.x, p.grid.y, p.grid.z);
  for (int k = 0; k < p.nodes.back().view.rank(); ++k) {
    const tile::Cut& c = d.numbers(k).cuts[static_cast<std::size_t>(k)];
    all += fmt::format("; {} / {} % {} tiles of {} from {} to {}", c.axis, c.div, c.mod, c.tile, c.offset,
                       c.offset + c.extent);
  }
  return all;
}

TEST(Coverage, OfRandomViewsIsWhatBlocksStore) {
  Rng rng(1);
  int right = 0, wrong = 0, otherwise = 0;
  for (int i = 0, n = test::all_cases() ? 1'000'000 : 30'000; i < n && !HasFailure(); ++i) {
    Drawn d = drawn(rng);
    const bool changed = rng.chance(60);
    if (changed) change(rng, d);
    const Counted stored = counted(d);
    const std::string message = verdict({.program = d.program});
    const std::string of = fmt::format("draw {}: {}", i, text(d));
    if (!changed) EXPECT_TRUE(stored.once) << of;
    if (!stored.once) EXPECT_NE(message, "") << of;
    // The proof asks for digits that continue each other, also of tiles that lie beyond the end.
    if (stored.once && message != "")
      EXPECT_TRUE(changed && (stored.beyond || overlapping(d))) << of << "\n" << message;
    (stored.once ? right : wrong) += 1, otherwise += stored.once && message != "" ? 1 : 0;
  }
  EXPECT_GT(wrong, right / 4);
  EXPECT_LT(otherwise, right / 20);
}

}  // namespace
}  // namespace zellige::plan
