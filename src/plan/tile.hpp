// Tiling: whose grids, loops and threads custom operators have, and the plan that follows.
//
//   Tiled t = tile(graph, target, {.tiles = Tiles::chosen});
//   t.graph                // as it was tiled: tiles, and partial sums between kernels, may differ
//   t.plan.program.notes   // says why, where tilings were priced
//
// Chosen: of every custom operator in turn, what retile proves is estimated from its tiles, the best few are planned and priced, and
// the least is taken if it is clearly less than the graph's own. Plain products have their tiles from product_tiles.hpp. Before: a validated graph. After: the plan of t.graph.
#pragma once
#include "plan/plan.hpp"
#include "plan/price.hpp"

namespace zellige::plan {

struct Tiled {
  graph::KernelGraph graph;
  Plan plan;
  Price price;
};

/// Throws Error where a stated tiling is none of the graph's, or would change what it means.
Tiled tile(const graph::KernelGraph&, const target::Target&, const Wishes& = {});

/// Of custom operators, and of plain products.
retile::Tiling tiling_of(const Tiled&);

/// Whose other tilings are looked at.
enum class Tilings : std::uint8_t { of_custom_operators, of_products_too };

/// In order of price.
struct Ranked {
  std::vector<Tiled> tiled;
  Rejections rejected;
};

/// The graph's own tiling and others that price least, at most so many. Throws Rejected where the proof rejects all of them.
Ranked ranked(const graph::KernelGraph&, const target::Target&, const Wishes&, int most, Tilings);

}  // namespace zellige::plan
