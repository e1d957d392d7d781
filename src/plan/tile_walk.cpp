#include "plan/tile_walk.hpp"

#include <algorithm>
#include <cmath>

namespace zellige::plan {

TileWalk tile_walk(const KernelPlan& plan) {
  const BlockProgram& p = plan.program;
  for (const auto& [node, m] : plan.matmuls) {
    if (!m.by_warpgroup()) continue;
    const int last = static_cast<int>(p.nodes[node].shape.size()) - 1;
    const Split &row = p.nodes[p.nodes[node].in[0]].splits[last - 1],
                &column = p.nodes[p.nodes[node].in[1]].splits[last];
    if (row.axis < 0 || column.axis < 0 || row.loop || column.loop) return {};
    TileWalk walk{.row_axis = row.axis, .column_axis = column.axis};
    const auto tiles = [&](const Split& s) { return s.mod > 0 ? s.mod : ceil_div(p.grid[s.axis], s.div); };
    walk.rows = tiles(row), walk.columns = tiles(column);
    const bool one_axis = row.axis == column.axis && column.div == 1 && row.div == walk.columns;
    const bool two_axes = row.axis != column.axis && row.div == 1 && column.div == 1;
    if ((!one_axis && !two_axes) || walk.rows * walk.columns != p.grid.count()) return {};
    // Blocks in flight cover about a square of the output.
    const double square =
        std::sqrt(static_cast<double>(plan.blocks / plan.split_k * m.n) / static_cast<double>(m.m));
    walk.group = std::clamp<std::int64_t>(std::llround(square), 1, walk.rows);
    return walk;
  }
  return {};
}

}  // namespace zellige::plan
