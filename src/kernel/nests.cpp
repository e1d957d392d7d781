#include "kernel/evaluation.hpp"
#include "kernel/sliced.hpp"
#include "kernel/widened.hpp"

namespace zellige::kernel {

StepSpan side_by_side(const Kernel& kernel, StepSpan steps, std::size_t first) {
  const Step& one = steps[first];
  // With several warp roles, each asynchronous copy is emitted as a step of its own.
  const auto fusible = [&](const Step& s) {
    return s.work.node >= 0 && !as<Start>(s) && !as<Mma>(s) &&
           (s.is.index() == one.is.index() || !kernel.warp_specialized()) &&
           is_global_load(s.work.kind) == is_global_load(one.work.kind) && guard_lag_of(s) == guard_lag_of(one);
  };
  std::size_t last = first;
  while (last < steps.size() && fusible(steps[last])) ++last;
  return steps.subspan(first, last - first);
}

bool in_nest(const Kernel& kernel, const Work& t) {
  if (t.kind == WorkKind::to_global) return t.tensor < 0;
  if (t.kind == WorkKind::reduce) return kernel.layout_of(t).row != nullptr;
  if (t.kind == WorkKind::to_operand) return t.part < 0;  // otherwise it widens
  return t.kind == WorkKind::to_shared || t.kind == WorkKind::accumulate || t.kind == WorkKind::rescale ||
         t.kind == WorkKind::to_lines || t.kind == WorkKind::to_registers;
}

std::vector<StepSpan> nests(const Kernel& kernel, StepSpan steps) {
  std::vector<StepSpan> result;
  std::size_t first = 0;
  for (std::size_t i = 1; i <= steps.size(); ++i) {
    if (i < steps.size()) {
      const Work &before = steps[i - 1].work, &work = steps[i].work;
      if (in_nest(kernel, before) && in_nest(kernel, work) && before.context == work.context &&
          slices(kernel, before) == slices(kernel, work))
        continue;
    }
    result.push_back(steps.subspan(first, i - first));
    first = i;
  }
  return result;
}

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
