#include "plan/index_width.hpp"

#include <algorithm>

namespace zellige::plan {
namespace {

// Matmul operands are padded to 8 and accumulators come in tiles of 16, so coordinates stay below the next multiple of 16.
std::int64_t padded(std::int64_t tile) { return tile == 1 ? 1 : (tile + 15) / 16 * 16; }

}  // namespace

bool Reach::far() const {
  return std::any_of(coordinate.begin(), coordinate.end(), [](std::int64_t c) { return c > most_narrow; });
}

Reach reach(const BlockProgram& p, const Node& n, const graph::KernelTensor& tensor) {
  Reach r;
  for (std::size_t d = 0; d < n.splits.size(); ++d) {
    const Split& s = n.splits[d];
    std::int64_t tiles = s.axis < 0 ? 1 : (p.grid[s.axis] + s.div - 1) / s.div;
    if (s.axis >= 0 && s.mod > 0) tiles = std::min(tiles, s.mod);
    if (s.loop) tiles *= p.loop;
    r.coordinate.push_back(s.offset + (tiles - 1) * s.tile + padded(s.tile) - 1);
    r.offset += r.coordinate.back() * tensor.strides[d];
  }
  return r;
}

void index_width(KernelPlan& plan, const Program& program) {
  for (int i = 0; i < static_cast<int>(plan.program.nodes.size()); ++i) {
    const Node& n = plan.program.nodes[i];
    if (n.kind != NodeKind::load && n.kind != NodeKind::store) continue;
    const Reach r = reach(plan.program, n, program.tensors[n.tensor]);
    if (r.offset > most_narrow || r.far()) plan.wide.insert(n.tensor);
    if (r.far()) plan.far.insert(i);
  }
}

}  // namespace zellige::plan
