// Tiling: whose grids, loops and threads custom operators have, and the plan that follows.
//
//   Tiled t = tile(graph, target, {.tiles = Tiles::chosen});
//   t.graph                // the graph as it was tiled: tiles, and partial sums between kernels, may differ
//
// Before: a validated graph. After: the plan of t.graph.
#pragma once
#include "plan/plan.hpp"

namespace zellige::plan {

struct Tiled {
  graph::KernelGraph graph;
  Plan plan;
};

/// Throws Error where a stated tiling is none of the graph's, or would change what it means.
Tiled tile(const graph::KernelGraph&, const target::Target&, const Wishes& = {});

}  // namespace zellige::plan
