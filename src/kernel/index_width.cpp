#include "kernel/index_width.hpp"

#include <algorithm>

namespace zellige::kernel {

IndexReach reach(const Kernel& kernel, const tile::Node& n, const graph::KernelTensor* tensor) {
  // Threads round the tile's extents up to a multiple of this: of the elements per access of the node's copy, and of
  // the extents of the kernel's matmul instructions, whichever is larger.
  std::int64_t unit = kernel.vector_of(static_cast<int>(&n - kernel.program.nodes.data()));
  for (const Agent& agent : kernel.agents)
    walk(agent.steps, [&](const Step& step, const StepPosition&) {
      if (const Instruction* row = step.work.matmul.row)
        unit = std::max({unit, std::int64_t{row->m}, std::int64_t{row->n} * tiles_in_unit(*row), std::int64_t{row->k}});
    });
  IndexReach r;
  for (int d = 0; d < n.view.rank(); ++d) {
    const std::int64_t tile = n.view.tile(d), padding = tile == 1 ? 0 : tile::ceil_div(tile, unit) * unit - tile;
    std::int64_t last = n.view.along(d, kernel.program).reach() + padding - 1;
    if (tensor && tile::number_of(n) >= 0 && d == n.dim) last = std::max(last, tensor->shape[d] - 1);
    r.coordinate = std::max(r.coordinate, last);
    if (tensor) r.offset += last * tensor->strides[d];
  }
  return r;
}

std::set<int> wide_tensors(const Kernel& kernel, const tile::TilePrograms& program) {
  std::set<int> wide;
  for (const tile::Node& n : kernel.program.nodes)
    if (tile::accesses(n) && reach(kernel, n, &program.tensors[n.tensor]).wide()) wide.insert(n.tensor);
  // The offsets of windows, from a pixel before the source to one after it.
  for (const tile::Node& n : kernel.program.nodes)
    if (const tile::Windows* w = n.unfolded ? program.windows(n.tensor) : nullptr)
      if (const std::int64_t last = w->distances(); last + std::abs(w->offset()) > max_int32) wide.insert(n.tensor);
  return wide;
}

}  // namespace zellige::kernel
