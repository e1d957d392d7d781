#include "plan/same_thread.hpp"

#include <algorithm>

#include "kernel/evaluated_layout.hpp"
#include "kernel/leaves.hpp"

namespace zellige::plan {

bool SameThread::operator()(int w, int r, int b) {
  const Task &writer = tasks_[w], &reader = tasks_[r];
  if (reader.kind == WorkKind::mma || reader.kind == WorkKind::finish || writer.kind == WorkKind::finish) return false;
  const Context &cw = plan_.layout_of(writer), &cr = plan_.layout_of(reader);
  const Shape& shape = plan_.tensors[b].shape;
  if (cw.row || cr.row || (cr.domain != shape && cr.domain != plan_.tensors[b].padded)) return false;
  for (int operand : operands_of(reader))
    for (const Leaf& leaf : leaves(plan_.program, operand, shape))
      if (plan_.tensor_of(leaf.node) == b && !leaf.identity()) return false;
  const auto key = std::make_tuple(writer.context, reader.context, b);
  if (const auto known = agreement_.find(key); known != agreement_.end()) return known->second;
  // The thread that writes each element. If the reader's coordinate is in the padding beyond the tile, it
  // reads the tile's last element there.
  const std::vector<int> owner = owners(cw, shape);
  bool same = true;
  for_each(EvaluatedLayout(cr), [&](int thread, int, const Shape& at) {
    if (at.empty()) return;
    Shape read = at;
    for (std::size_t d = 0; d < shape.size(); ++d) read[d] = std::min(at[d], shape[d] - 1);
    same = same && owner[linear(read, shape)] == thread;
  });
  return agreement_[key] = same;
}

/// Returns the nodes (operators of the kernel) that task t evaluates. A task that stores a node from
/// registers to shared memory evaluates only this node; other tasks evaluate their node's operands.
std::vector<int> SameThread::operands_of(const Task& t) const {
  const Node& n = plan_.program.nodes[t.node];
  const bool spills = t.kind == WorkKind::to_shared && n.kind != NodeKind::round && n.kind != NodeKind::store;
  return spills || n.in.empty() ? std::vector<int>{t.node} : n.in;
}

}  // namespace zellige::plan
