// Chooses the tilings (grids, loops and threads) of custom operators, and plans the graph.
//
//   Tiled t = tile(graph, target, {.tiles = Tiles::automatic});
//   t.graph                // with the selected tiling: tiles, and partial results between kernels, may differ
//   t.plan.program.notes   // reports why, if tilings were compared
//
// Tiles::automatic: for one custom operator after another, the tilings that retile proves valid are estimated
// from their tiles, the best few are planned, and the cheapest is taken if it is clearly cheaper than the
// graph's own. Unfused matmuls get their tiles from product_tiles.hpp.
// Before: a validated graph. After: the plan of t.graph.
#pragma once
#include "plan/cost_estimate.hpp"
#include "plan/plan.hpp"

namespace zellige::plan {

struct Tiled {
  graph::KernelGraph graph;
  Plan plan;
  CostEstimate cost;
};

/// Throws Error if an explicit tiling does not fit the graph, or would change its meaning.
Tiled tile(const graph::KernelGraph&, const target::Target&, const PlanOptions& = {});

/// The tiling of custom operators and of unfused matmuls.
retile::Tiling tiling_of(const Tiled&);

/// The operators whose other tilings are tried.
enum class Tilings : std::uint8_t { of_custom_operators, of_products_too };

/// In order of estimated cost.
struct Ranked {
  std::vector<Tiled> tiled;
  Rejections rejected;
};

/// The graph's own tiling and the cheapest others, at most `maximum`. Throws Rejected if the verifier rejects
/// all of them.
Ranked ranked(const graph::KernelGraph&, const target::Target&, const PlanOptions&, int maximum, Tilings);

}  // namespace zellige::plan
