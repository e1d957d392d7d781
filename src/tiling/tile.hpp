// Chooses the tilings (grids, loops and threads) of custom operators, which are kernels given as block
// graphs, by estimated time, and plans the graph with them.
//
//   Tiled t = tile(graph, target, {.tiles = Tiles::automatic});
//   t.graph                // with the selected tilings; may have other tiles and tensors of partial results
//   t.plan.program.notes   // if tilings were compared: why these were selected
//
// With Tiles::automatic, tilings are varied for one custom operator after another. Only tilings that are
// proved to compute the same (src/retile) are considered. Their times are estimated from their tiles, and the
// few cheapest ones are planned. The cheapest plan is taken if it is clearly cheaper than that of the graph's
// own tiling. Standalone matmuls get their tiles from plan/product_tile.hpp.
#pragma once
#include "plan/estimate.hpp"

namespace zellige::plan {

/// A graph with its tilings, its plan, and the plan's estimated time.
struct Tiled {
  graph::KernelGraph graph;
  Plan plan;
  CostEstimate cost;
};

/// Returns the plan of a validated graph with tilings as the option `tiles` says: the graph's own, those in
/// the options, or the ones with the least estimated time. Throws Error if an explicit tiling does not fit
/// the graph or would change its result, and Rejected if the verifier rejects every plan.
Tiled tile(const graph::KernelGraph&, const target::Target&, const PlanOptions& = {});

/// Returns the tilings that the planned graph's custom operators and standalone matmuls have.
retile::Tiling tiling_of(const Tiled&);

/// The operators whose tilings ranked() varies.
enum class Tilings : std::uint8_t { of_custom_operators, of_products_too };

/// Plans in order of estimated time, and the messages of plans that the verifier rejected.
struct Ranked {
  std::vector<Tiled> tiled;
  Rejections rejected;
};

/// Returns plans of the graph, sorted by estimated time: one with the graph's own tilings, and about
/// `maximum` plans with those other tilings whose estimated times are least. The last argument says whether
/// the tiles of standalone matmuls are varied, too. Tilings that do not fit the target, and plans that the
/// verifier rejects, are omitted. Throws Rejected if the verifier rejects all plans.
Ranked ranked(const graph::KernelGraph&, const target::Target&, const PlanOptions&, int maximum, Tilings);

}  // namespace zellige::plan
