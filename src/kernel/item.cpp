#include "kernel/item.hpp"

namespace zellige::kernel {

const Shape& written(const Kernel& kernel, const Work& t) {
  const bool operand = t.kind == WorkKind::to_shared && kernel.program.nodes[t.node].kind == tile::NodeKind::round;
  return operand ? kernel.tensors[t.tensor].padded : kernel.layout_of(t).domain;
}

std::vector<Guard> guards(const Kernel& kernel, const Work& t) {
  const Context& c = kernel.layout_of(t);
  const Shape& bound = written(kernel, t);
  const std::size_t rank = bound.size();
  std::vector<Guard> result;
  const auto need = [&](int axis, std::int64_t below) {
    if (c.items(axis) > below) result.push_back({axis, below});
  };
  need(2, graph::size(Shape(c.domain.begin(), c.domain.end() - 2)));
  need(1, bound[rank - 2]);
  // Accumulators beyond the tile's columns may be stored in the padding between the buffer's rows.
  bool room = false;
  if (t.kind == WorkKind::to_shared && kernel.program.nodes[t.node].kind == tile::NodeKind::matmul) {
    const SmemTensor& b = kernel.tensors[t.tensor];
    const int last = static_cast<int>(rank) - 1;
    room = b.inner == last && !b.swizzled() && b.padded[rank - 1] % c.vector() == 0 && b.stride(last - 1) >= c.items(0);
  }
  if (!room) need(0, bound[rank - 1]);
  return result;
}

}  // namespace zellige::kernel
