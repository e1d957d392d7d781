#include "kernel/index_width.hpp"

#include <algorithm>

namespace zellige::kernel {

IndexReach reach(const Kernel& plan, const tile::Node& n, const graph::KernelTensor* tensor) {
  // Threads round the tile's extents up to a multiple of this: of the elements per access of the node's copy, and of
  // the extents of the kernel's matmul instructions, whichever is larger.
  std::int64_t unit = plan.vector_of(static_cast<int>(&n - plan.program.nodes.data()));
  for (const Agent& agent : plan.agents)
    walk(agent.steps, [&](const Step& step, const StepPosition&) {
      if (const Instruction* row = step.work.matmul.row)
        unit = std::max({unit, std::int64_t{row->m}, std::int64_t{row->n} * tiles_in_unit(*row), std::int64_t{row->k}});
    });
  IndexReach r;
  for (int d = 0; d < n.view.rank(); ++d) {
    const std::int64_t tile = n.view.tile(d), padding = tile == 1 ? 0 : tile::ceil_div(tile, unit) * unit - tile;
    std::int64_t last = n.view.along(d, plan.program).reach() + padding - 1;
    if (tensor && tile::number_of(n) >= 0 && d == n.dim) last = std::max(last, tensor->shape[d] - 1);
    r.coordinate = std::max(r.coordinate, last);
    if (tensor) r.offset += last * tensor->strides[d];
  }
  return r;
}

std::set<int> wide_tensors(const Kernel& plan, const tile::TilePrograms& program) {
  std::set<int> wide;
  for (const tile::Node& n : plan.program.nodes)
    if (tile::accesses(n) && reach(plan, n, &program.tensors[n.tensor]).wide()) wide.insert(n.tensor);
  return wide;
}

}  // namespace zellige::kernel
