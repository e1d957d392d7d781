// Chooses the tilings (grids, loops and threads) of custom operators, which are kernels given as block
// graphs, by estimated time, and plans the graph with them.
//
//   Tiled t = choose_tilings(graph, target, {.tiles = TilingPolicy::automatic});
//   t.graph                // with the selected tilings; may have other tiles and tensors of partial results
//   t.notes                // if tilings were compared: why these were selected
//
// With TilingPolicy::automatic, tilings are varied for one custom operator after another. Only tilings that are
// proved to compute the same (src/retile) are considered. Their times are estimated from their tiles, and the
// few cheapest ones are planned. The cheapest plan is taken if it is clearly cheaper than that of the graph's
// own tiling.
#pragma once
#include "plan/estimate.hpp"
#include "retile/tiling.hpp"

namespace zellige::tiling {

/// A graph with its tilings, its plan, and the plan's estimated time.
struct Tiled {
  graph::KernelGraph graph;
  plan::Plan plan;
  predict::CostEstimate cost;
  std::vector<std::string> notes{};
};

/// A graph with its tilings, and why it has them.
struct TiledGraph {
  graph::KernelGraph graph;
  std::vector<std::string> notes;  // if tilings were compared
  kernel::Rejections rejected;     // plans with other tilings that the verifier rejected
};
/// Returns the graph with tilings as the option `tiles` says. Throws as choose_tilings() does.
TiledGraph tiled(graph::KernelGraph, const target::Target&, const plan::PlanOptions&);

/// Returns the plan of a validated graph with tilings as the option `tiles` says: the graph's own, those in
/// the options, or the ones with the least estimated time. Throws Error if an explicit tiling does not fit
/// the graph or would change its result, and Rejected if the verifier rejects every plan.
Tiled choose_tilings(const graph::KernelGraph&, const target::Target&, const plan::PlanOptions& = {});

/// Plans in order of estimated time, and the messages of plans that the verifier rejected.
struct RankedTilings {
  std::vector<Tiled> tiled;
  kernel::Rejections rejected;
};

/// Returns plans of the graph, sorted by estimated time: one with the graph's own tilings, and about
/// `maximum` plans with those other tilings whose estimated times are least. Tilings that do not fit the target, and plans that the
/// verifier rejects, are omitted. Throws Rejected if the verifier rejects all plans.
RankedTilings ranked(const graph::KernelGraph&, const target::Target&, const plan::PlanOptions&, int maximum);

/// Returns at most `maximum` tilings of the graph that differ in custom operator number `which` of its tiling (other grids,
/// loops and numbers of threads) and fit the target, each with its expected time in microseconds, the least first. All of
/// them are proved to compute the same.
std::vector<std::pair<double, retile::Tiling>> neighbours(const graph::KernelGraph&, std::size_t which,
                                                          const target::Target&, std::size_t maximum);

}  // namespace zellige::tiling
