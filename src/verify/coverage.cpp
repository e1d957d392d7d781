#include "verify/coverage.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "graph/error.hpp"
#include "select/tile_schedule.hpp"
#include "verify/boxes.hpp"

namespace zellige::plan {
namespace {

/// A digit of a block's index along a grid axis: `run` neighbours have the same one of `tiles` values.
struct GridDigit {
  std::int64_t run, tiles;
  Interval along;  // the dimension that it numbers
};

/// Returns where the tiles of a store lie: along each dimension of its view and, of rows that are stored where indices say,
/// along that of the indices.
std::vector<std::pair<int, Interval>> intervals(const TileProgram& p, const Node& n) {
  std::vector<std::pair<int, Interval>> all;
  for (int d = 0; d < n.view.rank(); ++d) all.emplace_back(d, n.view.along(d, p));
  if (const int indices = number_of(n); indices >= 0) {
    const View& rows = p.nodes[static_cast<std::size_t>(indices)].view;
    if (n.dim < rows.rank()) all.emplace_back(n.dim, rows.along(n.dim, p));
  }
  return all;
}

/// Throws Rejected unless the blocks' indices along `axis` number the tiles of the store `n`: each combination of its
/// dimensions' tiles is that of one block.
void check_axis(const TileProgram& p, const Node& n, int axis) {
  std::vector<GridDigit> digits;
  for (const auto& [d, along] : intervals(p, n))
    if (along.axis() == axis && along.tiles() > 1) digits.push_back({along.run(), along.tiles(), along});
  std::ranges::sort(digits, {}, [](const GridDigit& digit) { return std::pair(digit.run, digit.tiles); });
  const char letter = "xyz"[axis];
  std::int64_t below = 1;
  for (const GridDigit& digit : digits) {
    if (digit.run > below)
      reject("{}: store {} has one tile for {} blocks along {}, and {} of them differ in their other tiles", p.name,
             n.name, digit.run, letter, below);
    if (digit.run < below)
      reject("{}: store {} has another tile every {} blocks along {}, of which {} number another dimension's tiles",
             p.name, n.name, digit.run, letter, below);
    below *= digit.tiles;
  }
  if (below > p.grid[axis] && !digits.empty()) {  // the highest digit's last value has a part of its blocks
    const Interval& top = digits.back().along;
    if (top.origin() + top.first(p.grid[axis] / top.run(), std::int64_t{0}) >= top.end()) return;
  }
  if (below != p.grid[axis])
    reject(
        "{}: store {} has {} different tiles along {} of the grid, which has {} blocks there: each tile must be one "
        "block's",
        p.name, n.name, below, letter, p.grid[axis]);
}

/// Throws Rejected unless the tiles of the store `n` reach from where it begins to its end.
void check_reach(const TileProgram& p, const Node& n, const Program& program) {
  for (const auto& [d, along] : intervals(p, n)) {
    if (n.view.iterates(d))
      reject("{}: store {} has another tile in each iteration along dimension {}, and is done once, after the loop",
             p.name, n.name, d);
    if (along.size() < 0 && along.end() <= along.reach()) continue;
    const Number end = along.end(program.sizes), reach = along.reach(program.sizes);
    if (at_most(end, reach) != true)
      reject(
          "{}: the tiles of store {} end at {} of dimension {}, and the store at {}: nothing writes what lies between",
          p.name, n.name, reach.text(), d, end.text());
  }
}

/// Throws Rejected unless the blocks that the launch has take every tile of the grid once.
void check_blocks(const Kernel& k) {
  const TileProgram& p = k.program;
  const std::int64_t tiles = p.grid.count() * k.parts_of_loop();
  if (k.blocks == 0) {
    if (k.ranks > 1 && find_work(k, [](const Work&) { return true; }))
      reject("{}: has {} ranks, and blocks of one tile each; ranks share tiles of blocks", p.name, k.ranks);
    return;
  }
  if (k.blocks % k.ranks != 0 || k.blocks > tiles)
    reject("{}: {} blocks in clusters of {} take {} tiles; blocks are whole clusters, and at most one for each tile",
           p.name, k.blocks, k.ranks, tiles);
  const std::int64_t each = ceil_div(tiles, k.blocks);
  for (const Agent& agent : k.agents) {
    int loops = 0;
    walk(agent.steps, [&](const Step& step, const Position& at) {
      const Loop* loop = as<Loop>(step);
      if (!loop || loop->kind != Loop::tiles) return;
      if (++loops > 1 || at.depth > 0)
        reject("{}: {} has a loop over tiles in {} after another, or in one", p.name, agent.name,
               describe(step, at.index));
      if (loop->from != 0 || loop->trip_count != each || loop->each != k.iterations_per_rank())
        reject("{}: {} takes tiles {} to {} of {} iterations each; {} blocks take {} of {} iterations", p.name,
               agent.name, loop->from, loop->trip_count, loop->each, k.blocks, each, k.iterations_per_rank());
    });
    if (loops == 0)
      reject("{}: {} blocks take several tiles, and {} has no loop over them", p.name, k.blocks, agent.name);
  }
  const std::int64_t ranks = k.ranks / k.parts_of_loop();
  if (ranks == 1) return;
  const TileSchedule order = tile_schedule(k);
  if (order.rows % ranks != 0 || order.rows == 0)
    reject("{}: {} ranks take rows of tiles, of which there are {}", p.name, ranks, order.rows);
}

/// The elements of a tensor that a store writes.
struct Stored {
  const TileProgram* kernel;
  const Node* store;
  Box box;

  std::int64_t size() const {
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < box.low.size(); ++d) elements *= std::max<std::int64_t>(box.high[d] - box.low[d], 0);
    return elements;
  }
};

/// Throws Rejected unless the stores, in the order of the kernels, write each element of `tensor` once. A store may change a
/// part of what a kernel before it has stored whole, as a slice_scatter does, and a part of an input's memory.
void check_stores(const Program& program, int tensor, const std::vector<Stored>& stores) {
  const std::int64_t all = graph::size(program.shape(tensor));
  std::int64_t written = 0;
  for (std::size_t i = 0; i < stores.size(); ++i) {
    bool changes = false;
    for (std::size_t j = 0; j < i; ++j) {
      if (!meet(stores[i].box, stores[j].box)) continue;
      if (stores[i].kernel == stores[j].kernel || stores[j].size() != all)
        reject("{}: store {} writes elements that a store of {} writes, too; each is written once",
               stores[i].kernel->name, stores[i].store->name, stores[j].kernel->name);
      changes = true;
    }
    if (!changes) written += stores[i].size();
  }
  if (written != all && program.tensors[tensor].memory < 0)
    reject("{}: store {} and others write {} elements of {}, which has {}: each is written once",
           stores[0].kernel->name, stores[0].store->name, written, program.tensors[tensor].name, all);
}

}  // namespace

void verify_coverage(const Kernel& k, const Program& program) {
  const TileProgram& p = k.program;
  for (const Node& n : p.nodes) {
    if (n.kind != NodeKind::store) continue;
    check_reach(p, n, program);
    for (int axis = 0; axis < 3; ++axis) check_axis(p, n, axis);
  }
  check_blocks(k);
}

void verify_covered(const Program& program) {
  std::map<int, std::vector<Stored>> stores;
  std::set<int> open;  // tensors whose elements are written where numbers say
  for (const TileProgram& p : program.kernels)
    for (const Node& n : p.nodes) {
      if (n.kind != NodeKind::store) continue;
      const auto view = program.views.find(n.tensor);
      if (number_of(n) >= 0 || (view != program.views.end() && view->second.number >= 0)) open.insert(n.tensor);
      Stored stored{&p, &n, {}};
      for (int d = 0; d < n.view.rank(); ++d) {
        stored.box.low.push_back(std::max<std::int64_t>(n.view.origin(d), 0));
        stored.box.high.push_back(n.view.end(d));
      }
      stores[n.tensor].push_back(std::move(stored));
    }
  for (const auto& [tensor, of] : stores)
    if (!open.contains(tensor)) check_stores(program, tensor, of);
}

}  // namespace zellige::plan
