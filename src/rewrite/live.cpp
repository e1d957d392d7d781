// Removes dead code, and computes once what is computed twice.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "graph/error.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {

KernelGraph with_tensors(KernelGraph g, const std::vector<int>& kept) {
  std::vector<int> at(g.tensors.size(), -1);
  std::vector<KernelTensor> tensors;
  for (const int t : kept) at.at(t) = static_cast<int>(tensors.size()), tensors.push_back(std::move(g.tensors[t]));
  g.tensors = std::move(tensors);
  const auto place = [&](int& t) {
    const int to = at.at(t);
    if (to < 0) fault("{}: a tensor is read, but no operator makes it", g.name);
    t = to;
  };
  const auto renumber = [&](std::vector<int>& list) { std::ranges::for_each(list, place); };
  renumber(g.inputs), renumber(g.outputs);
  for (KernelOp& op : g.ops) renumber(op.inputs), renumber(op.outputs);
  for (KernelTensor& t : g.tensors)
    if (t.memory >= 0) place(t.memory);
  return g;
}

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
  std::vector<int> kept;
  for (std::size_t t = 0; t < there.size(); ++t)
    if (there[t]) kept.push_back(static_cast<int>(t));
  return with_tensors(std::move(g), kept);
}

/// Removes operators and tensors that nothing uses.
std::optional<KernelGraph> dead_code(const KernelGraph& g) {
  KernelGraph made = live(g);
  return made.tensors.size() < g.tensors.size() ? std::optional(std::move(made)) : std::nullopt;
}

/// Computes a value once that is computed twice, unless both are outputs. If one is, that is what remains.
std::optional<KernelGraph> computed_twice(const KernelGraph& g) {
  std::map<std::pair<OpKind, std::vector<int>>, std::vector<const KernelOp*>> before;
  std::vector<int> as(g.tensors.size());  // by tensor: the one that is read in its place
  std::iota(as.begin(), as.end(), 0);
  std::vector<int> written = as;  // by result of an operator: the tensor that it writes
  std::set<const KernelOp*> twice;
  for (const KernelOp& op : g.ops) {
    std::vector<int> in = op.inputs;
    for (int& t : in) t = as[t];
    const int made = op.outputs.at(0);
    if (op.kind == OpKind::custom || op.outputs.size() > 1 || g.tensors[made].memory >= 0) continue;
    auto& duplicates = before[{op.kind, std::move(in)}];
    const auto same = std::ranges::find_if(duplicates, [&](const KernelOp* o) {
      const int first = written[o->outputs[0]];
      return same_attributes(o->attributes, op.attributes) && g.tensors[first].dtype == g.tensors[made].dtype &&
             !(is_output(g, first) && is_output(g, made));
    });
    if (same == duplicates.end()) {
      duplicates.push_back(&op);
      continue;
    }
    const int first = (*same)->outputs[0];
    if (is_output(g, made)) written[first] = made;
    as[made] = first, twice.insert(&op);
  }
  if (twice.empty()) return std::nullopt;
  Rewrite out(g);
  for (const KernelOp& given : g.ops) {
    if (twice.contains(&given)) continue;
    KernelOp op = given;
    for (int& t : op.inputs) t = written[as[t]];
    for (int& t : op.outputs) t = written[t];
    out.keep(op);
  }
  return out.finished();
}

}  // namespace zellige::rewrite
