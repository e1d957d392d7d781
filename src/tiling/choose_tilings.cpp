#include "tiling/choose_tilings.hpp"

#include <algorithm>
#include <optional>

#include "cost/better.hpp"
#include "graph/refused.hpp"
#include "plan/estimate.hpp"
#include "retile/retile.hpp"
#include "tiling/neighbours.hpp"

namespace zellige::tiling {
namespace {

using retile::Tiling;

/// Returns the estimated time in microseconds, by which plans are sorted.
double by_cost(const Tiled& t) { return t.cost.us; }

/// Returns the plan of a graph, with its estimated time.
Tiled planned(graph::KernelGraph g, const target::Target& target, const plan::PlanOptions& options) {
  Tiled t;
  t.graph = std::move(g);
  t.plan = plan::make_plan(t.graph, target, options);
  t.cost = plan::estimate_cost(t.plan, target);
  return t;
}

/// Returns the fraction of a block's warps that have work in a matmul: the least over all matmuls of the kernel.
double busy(const kernel::Kernel& k) {
  double least = 1;
  for (const kernel::Work& work : kernel::works(k))
    if (work.kind == kernel::WorkKind::mma)
      least = std::min(least, static_cast<double>(work.matmul.warps.count()) / k.program.warps());
  return least;
}

/// Returns whether each kernel of plan a keeps at least `share` of its warps busy, or as many as that of plan `given` does.
bool keeps_busy(const plan::Plan& a, const plan::Plan& given, double share) {
  for (std::size_t i = 0; i < a.kernels.size(); ++i)
    if (busy(a.kernels[i]) < std::min(share, i < given.kernels.size() ? busy(given.kernels[i]) : 1)) return false;
  return true;
}

/// Returns whether the longest loop of plan a has more iterations than that of plan b.
bool has_longer_loop(const plan::Plan& a, const plan::Plan& b) {
  const auto longest = [](const plan::Plan& plan) {
    std::int64_t maximum = 0;
    for (const kernel::Kernel& k : plan.kernels) maximum = std::max(maximum, k.program.loop);
    return maximum;
  };
  return longest(a) > longest(b);
}

/// Returns whether plan a is clearly better than plan `given`, and keeps enough warps busy.
bool replaces(const Tiled& a, const Tiled& given, const target::Costs::Search& costs) {
  return cost::clearly_better({.us = a.cost.us}, {.us = given.cost.us}, has_longer_loop(a.plan, given.plan), costs) &&
         keeps_busy(a.plan, given.plan, costs.min_busy);
}

}  // namespace

RankedTilings ranked(const graph::KernelGraph& graph, const target::Target& target, const plan::PlanOptions& options,
                     int maximum) {
  RankedTilings found;
  std::vector<Tiled>& all = found.tiled;
  std::optional<Rejected> own;
  try {
    all.push_back(planned(graph, target, options));
  } catch (const Rejected& plan) {
    own = plan;
    kernel::drop(plan, found.rejected);
  }
  const std::size_t ops = retile::tiling_of(graph).size();
  const auto few = static_cast<std::size_t>(std::max<int>(maximum / std::max(1, static_cast<int>(ops)), 1));
  const auto try_with = [&](const graph::KernelGraph& g, const Tiling& tiles) {
    plan::PlanOptions with = options;
    with.tiling = tiles;
    try {
      refused([&] { all.push_back(planned(g, target, with)); });  // if the tiling does not fit the target
    } catch (const Rejected& plan) {
      kernel::drop(plan, found.rejected);
    }
  };
  // Returns the cheapest plan so far. The tilings of the next operator are varied starting from it.
  const auto cheapest = [&] { return std::ranges::min_element(all, {}, by_cost); };
  const auto graph_so_far = [&] { return all.empty() ? graph : cheapest()->graph; };
  for (std::size_t which = 0; which < ops; ++which) {
    const graph::KernelGraph from = graph_so_far();
    for (const auto& [us, tiling] : neighbours(from, which, target, few))
      if (const std::optional<graph::KernelGraph> g = retile::proved(from, tiling)) try_with(*g, options.tiling);
  }
  if (all.empty()) throw Rejected(*own);
  std::ranges::stable_sort(all, {}, by_cost);
  return found;
}

Tiled choose_tilings(const graph::KernelGraph& graph, const target::Target& target, const plan::PlanOptions& options) {
  if (options.tiles == plan::TilingPolicy::fixed)
    return planned(retile::retile(graph, options.tiling), target, options);
  if (options.tiles == plan::TilingPolicy::given || retile::tiling_of(graph).empty())
    return planned(graph, target, options);
  RankedTilings found = ranked(graph, target, options, 4);
  std::vector<Tiled>& all = found.tiled;
  const Tiling own = retile::tiling_of(graph);
  const auto given = std::ranges::find_if(all, [&](const Tiled& t) { return retile::tiling_of(t.graph) == own; });
  const bool rejected = given == all.end();
  const bool clear = !rejected && replaces(all.front(), *given, target.costs.search);
  const double us = rejected ? 0 : given->cost.us;
  Tiled taken = rejected || clear ? std::move(all.front()) : std::move(*given);
  taken.plan.rejected = std::move(found.rejected);
  taken.notes.push_back(
      rejected ? fmt::format("tiles selected from {}: {:.1f} us; the proof rejects the plan of the graph's own ({})",
                             all.size(), taken.cost.us, print(own))
      : clear  ? fmt::format("tiles selected from {}: {:.1f} us, where the graph's own ({}) take {:.1f}", all.size(),
                             taken.cost.us, print(own), us)
               : fmt::format("tiles of the graph: {:.1f} us, the least of {}, or not clearly more", us, all.size()));
  return taken;
}

TiledGraph tiled(graph::KernelGraph graph, const target::Target& target, const plan::PlanOptions& options) {
  if (options.tiles == plan::TilingPolicy::fixed) return {retile::retile(graph, options.tiling), {}, {}};
  if (options.tiles == plan::TilingPolicy::given || retile::tiling_of(graph).empty()) return {std::move(graph), {}, {}};
  Tiled t = choose_tilings(graph, target, options);
  return {std::move(t.graph), std::move(t.notes), std::move(t.plan.rejected)};
}

}  // namespace zellige::tiling
