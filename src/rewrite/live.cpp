#include "rewrite/live.hpp"

#include <algorithm>

namespace zellige::fuse {

KernelGraph live(KernelGraph g) {
  std::vector<bool> read(g.tensors.size(), false), there(g.tensors.size(), false);
  for (int t : g.outputs) read[t] = true;
  for (auto op = g.ops.rbegin(); op != g.ops.rend(); ++op)
    if (std::ranges::any_of(op->outputs, [&](int t) { return read[t]; }))
      for (int t : op->inputs) read[t] = true;
  std::erase_if(g.ops, [&](const KernelOp& op) {
    return std::ranges::none_of(op.outputs, [&](int t) { return read[t]; });
  });
  for (int t : g.inputs) there[t] = true;
  for (const KernelOp& op : g.ops)
    for (int t : op.outputs) there[t] = true;
  std::vector<int> at(g.tensors.size(), -1);
  std::vector<KernelTensor> kept;
  for (std::size_t t = 0; t < there.size(); ++t)
    if (there[t]) at[t] = static_cast<int>(kept.size()), kept.push_back(std::move(g.tensors[t]));
  g.tensors = std::move(kept);
  const auto renumber = [&](std::vector<int>& list) {
    for (int& t : list) t = at[t];
  };
  renumber(g.inputs), renumber(g.outputs);
  for (KernelOp& op : g.ops) renumber(op.inputs), renumber(op.outputs);
  for (KernelTensor& t : g.tensors)
    if (t.memory >= 0) t.memory = at[t.memory];
  return g;
}

}  // namespace zellige::fuse
