#include "plan/tile.hpp"

#include "retile/retile.hpp"

namespace zellige::plan {

Tiled tile(const graph::KernelGraph& graph, const target::Target& target, const Wishes& wishes) {
  Tiled t;
  t.graph = wishes.tiles == Tiles::stated ? retile::retile(graph, wishes.tiling) : graph;
  t.plan = make_plan(t.graph, target, wishes);
  return t;
}

}  // namespace zellige::plan
