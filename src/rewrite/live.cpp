#include "rewrite/live.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::fuse {

KernelGraph live(KernelGraph g) {
  std::vector<bool> read(g.tensors.size(), false), there(g.tensors.size(), false);
  for (int t : g.outputs) read[t] = true;
  for (auto op = g.ops.rbegin(); op != g.ops.rend(); ++op)
    if (std::ranges::any_of(op->outputs, [&](int t) { return read[t]; }))
      for (int t : op->inputs) read[t] = true;
  std::erase_if(g.ops,
                [&](const KernelOp& op) { return std::ranges::none_of(op.outputs, [&](int t) { return read[t]; }); });
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

/// Removes operators and tensors that nothing uses.
std::optional<KernelGraph> dead_code(const KernelGraph& g) {
  KernelGraph made = live(g);
  return made.tensors.size() < g.tensors.size() ? std::optional(std::move(made)) : std::nullopt;
}

/// Computes a value once that is computed twice, unless both are outputs.
std::optional<KernelGraph> computed_twice(const KernelGraph& g) {
  std::map<std::pair<OpKind, std::vector<int>>, std::vector<const KernelOp*>> before;
  std::vector<int> as(g.tensors.size());
  std::iota(as.begin(), as.end(), 0);
  Rewrite out(g);
  bool changed = false;
  for (const KernelOp& given : g.ops) {
    KernelOp op = given;
    for (int& t : op.inputs) t = as[t];
    const KernelTensor& made = g.tensors[op.outputs[0]];
    if (op.kind != OpKind::custom && op.outputs.size() == 1 && made.memory < 0) {
      auto& duplicates = before[{op.kind, op.inputs}];
      const auto same = std::ranges::find_if(duplicates, [&](const KernelOp* o) {
        return o->attributes == op.attributes && g.tensors[o->outputs[0]].dtype == made.dtype;
      });
      if (same != duplicates.end() && !is_output(g, op.outputs[0])) {
        as[op.outputs[0]] = (*same)->outputs[0], changed = true;
        continue;
      }
      duplicates.push_back(&given);
    }
    out.keep(op);
  }
  return changed ? std::optional(out.finished()) : std::nullopt;
}

}  // namespace zellige::fuse
