#include "tiling/choose_tilings.hpp"

#include <algorithm>
#include <optional>

#include "cost/better.hpp"
#include "graph/error.hpp"
#include "plan/estimate.hpp"
#include "retile/retile.hpp"

namespace zellige::tiling {
namespace {

using retile::Tiling;

/// Returns the estimated time in microseconds, by which plans are sorted.
double by_cost(const Tiled& t) { return t.cost.us; }

/// Returns the plan of a graph, which the verifier has not seen, with its estimated time.
Tiled planned(graph::KernelGraph g, const target::Target& target, const plan::PlanOptions& options) {
  Tiled t;
  t.graph = std::move(g);
  t.plan =
      plan::scheduled(plan::selected(plan::lowered(t.graph, target, options.sizes), target), target, options.blocks);
  t.cost = plan::estimate_cost(t.plan, target);
  return t;
}

/// Has the verifier check a plan. Returns why it rejects it, if it does.
std::optional<Rejected> rejection(Tiled& t, const target::Target& target, const plan::PlanOptions& options) {
  try {
    t.plan = plan::proved(std::move(t.plan), target, options.registers_proved);
    return std::nullopt;
  } catch (const Rejected& plan) {
    return plan;
  }
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

/// Returns whether tilings of the graph are compared, as the option `tiles` says.
bool compares(const graph::KernelGraph& graph, const plan::PlanOptions& options) {
  return options.tiles == plan::TilingPolicy::automatic && !retile::tiling_of(graph).empty();
}

/// Returns the graph with the tilings that the options fix; with its own if they fix none.
graph::KernelGraph with_fixed(graph::KernelGraph graph, const plan::PlanOptions& options) {
  return options.tiles == plan::TilingPolicy::fixed ? retile::retile(graph, options.tiling) : std::move(graph);
}

/// Returns plans of the graph by estimated time, which the verifier has not seen: one with the graph's own tilings, and
/// about `maximum` with those others that are proved to compute the same and whose estimated times are least. Plans that
/// are rejected before that are omitted, and so is the graph's own if it does not fit the target. Throws Rejected or DoesNotFit if none
/// is left.
RankedTilings sorted(const graph::KernelGraph& graph, const target::Target& target, const plan::PlanOptions& options,
                     int maximum) {
  RankedTilings found;
  std::vector<Tiled>& all = found.tiled;
  std::optional<Rejected> last;
  const auto add = [&](const graph::KernelGraph& g) {
    try {
      all.push_back(planned(g, target, options));
    } catch (const Rejected& plan) {
      kernel::drop(plan, found.rejected);
      last = plan;
    }
  };
  std::optional<DoesNotFit> too_large;
  try {
    add(graph);
  } catch (const DoesNotFit& e) {
    too_large = e;
  }
  const std::size_t ops = retile::tiling_of(graph).size();
  const auto few = static_cast<std::size_t>(std::max<int>(maximum / std::max(1, static_cast<int>(ops)), 1));
  for (std::size_t which = 0; which < ops; ++which) {
    // The tilings of the next operator are varied starting from the cheapest plan so far.
    const graph::KernelGraph from = all.empty() ? graph : std::ranges::min_element(all, {}, by_cost)->graph;
    for (const auto& [us, tiling] : neighbours(from, which, target, few))
      if (const std::optional<graph::KernelGraph> g = retile::proved(from, tiling))
        refused([&] { add(*g); });  // if the tiling does not fit the target
  }
  if (all.empty() && too_large) throw DoesNotFit(*too_large);
  if (all.empty()) throw Rejected(*last);
  std::ranges::stable_sort(all, {}, by_cost);
  return found;
}

}  // namespace

RankedTilings ranked(const graph::KernelGraph& graph, const target::Target& target, const plan::PlanOptions& options,
                     int maximum) {
  RankedTilings all = sorted(graph, target, options, maximum), found{.tiled = {}, .rejected = std::move(all.rejected)};
  std::optional<Rejected> last;
  for (Tiled& t : all.tiled)
    if (const std::optional<Rejected> why = rejection(t, target, options)) {
      kernel::drop(*why, found.rejected);
      last = why;
    } else {
      found.tiled.push_back(std::move(t));
    }
  if (found.tiled.empty()) throw Rejected(*last);
  return found;
}

Tiled choose_tilings(const graph::KernelGraph& graph, const target::Target& target, const plan::PlanOptions& options) {
  const bool compared = compares(graph, options);
  RankedTilings found;
  if (compared)
    found = sorted(graph, target, options, 4);
  else
    found.tiled.push_back(planned(with_fixed(graph, options), target, options));
  std::vector<Tiled>& all = found.tiled;
  const Tiling own = retile::tiling_of(graph);
  for (;;) {  // until the verifier has nothing against the plan that is taken
    const auto given = std::ranges::find_if(all, [&](const Tiled& t) { return retile::tiling_of(t.graph) == own; });
    const bool gone = given == all.end();
    const auto taken = gone || replaces(all.front(), *given, target.costs.search) ? all.begin() : given;
    if (const std::optional<Rejected> why = rejection(*taken, target, options)) {
      if (all.size() == 1) throw Rejected(*why);
      kernel::drop(*why, found.rejected);
      all.erase(taken);
      continue;
    }
    if (compared)
      taken->notes.push_back(
          gone ? fmt::format("tiles selected from {}: {:.1f} us; there is no plan of the graph's own ({})", all.size(),
                             taken->cost.us, print(own))
          : taken != given ? fmt::format("tiles selected from {}: {:.1f} us, where the graph's own ({}) take {:.1f}",
                                         all.size(), taken->cost.us, print(own), given->cost.us)
                           : fmt::format("tiles of the graph: {:.1f} us, the least of {}, or not clearly more",
                                         taken->cost.us, all.size()));
    taken->plan.rejected = std::move(found.rejected);
    return std::move(*taken);
  }
}

TiledGraph tiled(graph::KernelGraph graph, const target::Target& target, const plan::PlanOptions& options) {
  if (!compares(graph, options)) return {with_fixed(std::move(graph), options), {}, {}};
  Tiled t = choose_tilings(graph, target, options);
  return {std::move(t.graph), std::move(t.notes), std::move(t.plan.rejected)};
}

}  // namespace zellige::tiling
