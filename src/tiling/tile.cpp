#include "tiling/tile.hpp"

#include <algorithm>
#include <optional>

#include "graph/refused.hpp"
#include "lower/lower.hpp"
#include "plan/estimate.hpp"
#include "plan/product_tile.hpp"
#include "retile/retile.hpp"

namespace zellige::plan {
namespace {

using retile::OpTiling;
using retile::Tiling;

/// Returns a reference to one extent of a tiling. `at` is 0, 1 or 2 for grid x, y or z, and 3 for the loop.
std::int64_t& extent(OpTiling& t, int at) {
  return at == 0 ? t.grid.x : at == 1 ? t.grid.y : at == 2 ? t.grid.z : t.loop;
}

/// The tilings of one custom operator that differ from the given one, with estimated times.
class Neighbours {
 public:
  Neighbours(const graph::KernelGraph& g, std::size_t which, const target::Target& target)
      : graph_(g), given_(retile::tiling_of(g)), which_(which), target_(target) {
    for (const OpTiling& o : given_)
      if (o.op == given_[which].op || reads(o.op)) timed_.push_back(o.op);
  }

  /// Returns at most `maximum` tilings that fit the target, cheapest first, each with its estimated time in microseconds.
  /// All of them are proved not to change the graph's results.
  std::vector<std::pair<double, Tiling>> best(std::size_t maximum) {
    std::vector<std::int64_t> values[4];
    for (int at = 0; at < 4; ++at) values[at] = extents(at);
    Tiling t = given_;
    OpTiling& mine = t[which_];
    for (std::int64_t x : values[0])
      for (std::int64_t y : values[1])
        for (std::int64_t z : values[2])
          for (std::int64_t loop : values[3]) {
            mine = given_[which_];
            mine.grid = {x, y, z};
            mine.loop = loop;
            if (!sensible(mine)) continue;
            const std::optional<graph::KernelGraph> g = retile::proved(graph_, t);
            if (!g) continue;
            for (int threads : threads_of()) {
              mine.block = threads == given_[which_].block.count() ? given_[which_].block : graph::Dim3{threads, 1, 1};
              if (t == given_) continue;
              graph::KernelGraph timed = *g;
              auto block = std::make_shared<graph::BlockGraph>(*timed.ops[mine.op].block);
              block->block = mine.block;
              timed.ops[mine.op].block = std::move(block);
              refused([&] { found_.emplace_back(estimate(part_of(timed, timed_), target_).us, t); });
            }
          }
    std::ranges::stable_sort(found_, {}, [](const auto& c) { return c.first; });
    if (found_.size() > maximum) found_.resize(maximum);
    return std::move(found_);
  }

 private:
  static constexpr std::int64_t max_factor = 8;

  /// Returns whether operator `op` reads a result of the custom operator whose tilings are varied.
  bool reads(int op) const {
    const std::vector<int>&read = graph_.ops[op].inputs, &made = graph_.ops[given_[which_].op].outputs;
    return std::ranges::find_first_of(read, made) != read.end();
  }

  /// Returns the values to try for one extent of the tiling: grid x, y or z if `at` is 0, 1 or 2, the loop if
  /// it is 3. They are the present value, and those of its multiples and quotients by 2, 3, 4 and 8 that
  /// retile::proved() accepts while all other extents stay unchanged. A grid extent of 1 keeps its value.
  std::vector<std::int64_t> extents(int at) {
    OpTiling own = given_[which_];
    const std::int64_t now = extent(own, at);
    std::vector<std::int64_t> result{now};
    if (at < 3 && now == 1) return result;
    for (std::int64_t factor : {2, 4, 8, 3})
      for (const bool more : {false, true}) {
        if (!more && now % factor != 0) continue;
        Tiling t = given_;
        extent(t[which_], at) = more ? now * factor : now / factor;
        if (retile::proved(graph_, t)) result.push_back(extent(t[which_], at));
      }
    return result;
  }

  /// Returns whether a tiling's grid is neither too small nor too large. Too small is a grid with fewer
  /// blocks than a third of the multiprocessors, and fewer than the original grid. Too large is one with more
  /// than 6 blocks per multiprocessor, and more than the original grid.
  bool sensible(const OpTiling& t) const {
    const std::int64_t blocks = t.grid.count(), own = given_[which_].grid.count(), all = target_.multiprocessors;
    return (blocks >= all / 3 || blocks >= own) && (blocks <= 6 * all || blocks <= own);
  }

  /// Returns the numbers of threads per block to try.
  std::vector<int> threads_of() const {
    const auto own = static_cast<int>(given_[which_].block.count());
    const bool products =
        std::ranges::count(graph_.ops[given_[which_].op].block->ops, OpKind::matmul, &graph::BlockOp::kind) > 0;
    std::vector<int> counts{own};
    for (int n : products ? std::vector<int>{128, 256} : std::vector<int>{128, 256, 512, 1024})
      if (n != own) counts.push_back(n);
    return counts;
  }

  const graph::KernelGraph& graph_;
  Tiling given_;
  std::size_t which_;
  std::vector<int> timed_;  // the operator, and the custom operators that read its results
  const target::Target& target_;
  std::vector<std::pair<double, Tiling>> found_;
};

/// Returns the estimated time in microseconds, by which plans are sorted.
double by_cost(const Tiled& t) { return t.cost.us; }

/// Returns the plan of a graph, with its estimated time.
Tiled planned(graph::KernelGraph g, const target::Target& target, const PlanOptions& options) {
  Tiled t;
  t.graph = std::move(g);
  t.plan = make_plan(t.graph, target, options);
  t.cost = estimate_cost(t.plan, target);
  return t;
}

/// Returns the fraction of a block's warps that have work in a matmul: the least over all matmuls of the plan.
double busy(const Plan& plan) {
  double cheapest = 1;
  for (const Kernel& k : plan.kernels)
    for (const Work& work : works(k))
      if (work.kind == WorkKind::mma)
        cheapest = std::min(cheapest, double(work.matmul.warps.count()) / k.program.warps());
  return cheapest;
}

/// Returns whether the longest loop of plan a has more iterations than that of plan b.
bool has_longer_loop(const Plan& a, const Plan& b) {
  const auto longest = [](const Plan& plan) {
    std::int64_t maximum = 0;
    for (const Kernel& k : plan.kernels) maximum = std::max(maximum, k.program.loop);
    return maximum;
  };
  return longest(a) > longest(b);
}

/// Returns whether plan a is cheaper than plan `given` by the minimum gains, in percent and in microseconds,
/// and keeps enough warps busy.
bool clearly_less(const Tiled& a, const Tiled& given, const target::Costs::Search& costs) {
  const double gain = has_longer_loop(a.plan, given.plan) ? costs.clear_gain_of_longer_loops : costs.clear_gain;
  return a.cost.us < (1 - gain) * given.cost.us && a.cost.us < given.cost.us - costs.clear_us &&
         busy(a.plan) >= std::min(costs.min_busy, busy(given.plan));
}

}  // namespace

retile::Tiling tiling_of(const Tiled& t) {
  Tiling all = retile::tiling_of(t.graph);
  all.insert(all.end(), t.plan.program.products.begin(), t.plan.program.products.end());
  return all;
}

Ranked ranked(const graph::KernelGraph& graph, const target::Target& target, const PlanOptions& options, int maximum,
              Tilings whose) {
  Ranked found;
  std::vector<Tiled>& all = found.tiled;
  std::optional<Rejected> own;
  try {
    all.push_back(planned(graph, target, options));
  } catch (const Rejected& plan) {
    own = plan;
    drop(plan, found.rejected);
  }
  const std::size_t ops = retile::tiling_of(graph).size();
  const Tiling own_products = own ? lowered(graph, target, options.tiling).products : all.front().plan.program.products;
  const Tiling products = whose == Tilings::of_products_too ? own_products : Tiling{};
  const auto few =
      static_cast<std::size_t>(std::max<int>(maximum / std::max(1, static_cast<int>(ops + products.size())), 1));
  const auto try_with = [&](const graph::KernelGraph& g, const Tiling& tiles) {
    PlanOptions with = options;
    with.tiling = tiles;
    try {
      refused([&] { all.push_back(planned(g, target, with)); });  // if the tiling does not fit the target
    } catch (const Rejected& plan) {
      drop(plan, found.rejected);
    }
  };
  // Returns the cheapest plan so far. The tilings of the next operator are varied starting from it.
  const auto cheapest = [&] { return std::ranges::min_element(all, {}, by_cost); };
  const auto graph_so_far = [&] { return all.empty() ? graph : cheapest()->graph; };
  for (std::size_t which = 0; which < ops; ++which) {
    const graph::KernelGraph from = graph_so_far();
    for (const auto& [us, tiling] : Neighbours(from, which, target).best(few))
      if (const std::optional<graph::KernelGraph> g = retile::proved(from, tiling)) try_with(*g, options.tiling);
  }
  for (const OpTiling& product : products) {
    const graph::KernelGraph from = graph_so_far();
    const Tiling taken = all.empty() ? products : cheapest()->plan.program.products;
    std::size_t tried = 0;
    for (const retile::ProductTile& t : ranked_tiles(product_size(graph, product.op), target)) {
      if (t == *product.product || tried == few) continue;
      ++tried;
      Tiling tiles = taken;
      for (OpTiling& o : tiles)
        if (o.op == product.op) o.product = t;
      try_with(from, tiles);
    }
  }
  if (all.empty()) throw Rejected(*own);
  std::ranges::stable_sort(all, {}, by_cost);
  return found;
}

Tiled tile(const graph::KernelGraph& graph, const target::Target& target, const PlanOptions& options) {
  if (options.tiles == Tiles::fixed) return planned(retile::retile(graph, options.tiling), target, options);
  if (options.tiles == Tiles::given || retile::tiling_of(graph).empty()) return planned(graph, target, options);
  Ranked found = ranked(graph, target, options, 4, Tilings::of_custom_operators);
  std::vector<Tiled>& all = found.tiled;
  const Tiling own = retile::tiling_of(graph);
  const auto given = std::ranges::find_if(all, [&](const Tiled& t) { return retile::tiling_of(t.graph) == own; });
  const bool rejected = given == all.end();
  const bool clear = !rejected && clearly_less(all.front(), *given, target.costs.search);
  const double us = rejected ? 0 : given->cost.us;
  Tiled taken = rejected || clear ? std::move(all.front()) : std::move(*given);
  taken.plan.rejected = std::move(found.rejected);
  taken.plan.program.notes.push_back(
      rejected ? fmt::format("tiles selected from {}: {:.1f} us; the proof rejects the plan of the graph's own ({})",
                             all.size(), taken.cost.us, print(own))
      : clear  ? fmt::format("tiles selected from {}: {:.1f} us, where the graph's own ({}) take {:.1f}", all.size(),
                             taken.cost.us, print(own), us)
               : fmt::format("tiles of the graph: {:.1f} us, the least of {}, or not clearly more", us, all.size()));
  return taken;
}

}  // namespace zellige::plan
