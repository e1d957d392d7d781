#include "kernel/index_width.hpp"

#include <algorithm>

namespace zellige::plan {
namespace {

/// Returns by how many elements, less one, coordinates of node `n` may lie beyond its tile at most: threads round the
/// tile's extents up to a multiple of the result. It is the larger of the elements per access of the node's copy and
/// the largest extent of the kernel's matmul instructions.
std::int64_t step(const Kernel& plan, const Node& n) {
  std::int64_t maximum = plan.vector_of(static_cast<int>(&n - plan.program.nodes.data()));
  for (const auto& [node, m] : plan.matmuls)
    if (m.row)
      maximum = std::max({maximum, std::int64_t{m.row->m}, std::int64_t{m.row->n} * tiles_in_unit(*m.row),
                          std::int64_t{m.row->k}});
  return maximum;
}

}  // namespace

bool Reach::far() const {
  return std::any_of(coordinate.begin(), coordinate.end(), [](std::int64_t c) { return c > max_int32; });
}

Reach reach(const Kernel& plan, const Node& n, const graph::KernelTensor& tensor) {
  const std::int64_t step = plan::step(plan, n);
  Reach r;
  for (int d = 0; d < n.view.rank(); ++d) {
    const std::int64_t tile = n.view.tile(d), padding = tile == 1 ? 0 : ceil_div(tile, step) * step - tile;
    r.coordinate.push_back(n.view.along(d, plan.program).reach() + padding - 1);
    if (number_of(n) >= 0 && d == n.dim)
      r.coordinate.back() = std::max(r.coordinate.back(), tensor.shape[d] - 1);
    r.offset += r.coordinate.back() * tensor.strides[d];
  }
  return r;
}

void index_width(Kernel& plan, const Program& program) {
  for (int i = 0; i < static_cast<int>(plan.program.nodes.size()); ++i) {
    const Node& n = plan.program.nodes[i];
    if (n.kind == NodeKind::map && !n.view.empty())  // a mask's coordinates
      if (reach(plan, n, {n.dtype, n.shape, Strides(n.shape.size(), 0), n.name}).far()) plan.far.insert(i);
    if (!accesses(n)) continue;
    const Reach r = reach(plan, n, program.tensors[n.tensor]);
    if (r.offset > max_int32 || r.far()) plan.wide.insert(n.tensor);
    if (r.far()) plan.far.insert(i);
  }
}

}  // namespace zellige::plan
