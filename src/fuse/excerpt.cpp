#include "fuse/excerpt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "graph/structure.hpp"
#include "graph/view.hpp"

namespace zellige::fuse {

using graph::KernelGraph;
using graph::KernelOp;
using graph::OpKind;

Excerpts::Excerpts(const KernelGraph& g)
    : g_(g), maker_(g.tensors.size(), -1), readers_(g.tensors.size()), is_output_(g.tensors.size()) {
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    for (int t : g.ops[i].outputs) maker_[t] = static_cast<int>(i);
    for (int t : g.ops[i].inputs)
      if (readers_[t].empty() || readers_[t].back() != static_cast<int>(i))
        readers_[t].push_back(static_cast<int>(i));
  }
  for (int t : g.outputs) is_output_[t] = true;
}

Excerpt Excerpts::of(const std::vector<int>& ops) const {
  std::set<int> taken(ops.begin(), ops.end()), before, copied;  // operators; tensors that are read outside
  std::vector<int> seen, shown;  // operands whose views are needed; results whose users are
  for (int i : ops) {
    seen.insert(seen.end(), g_.ops[i].inputs.begin(), g_.ops[i].inputs.end());
    shown.insert(shown.end(), g_.ops[i].outputs.begin(), g_.ops[i].outputs.end());
  }
  for (std::size_t at = 0; at < seen.size(); ++at)
    if (const int by = maker_[seen[at]];
        by >= 0 && graph::is_view(g_.ops[by].kind) && taken.insert(by).second) {
      before.insert(by);
      seen.insert(seen.end(), g_.ops[by].inputs.begin(), g_.ops[by].inputs.end());
    }
  const std::size_t results = shown.size();
  for (std::size_t at = 0; at < shown.size(); ++at)
    for (int r : readers_[shown[at]]) {
      const KernelOp& reader = g_.ops[r];
      if (!graph::is_view(reader.kind)) {
        if (at < results && taken.count(r) == 0) copied.insert(shown[at]);
      } else if (taken.insert(r).second) {
        shown.push_back(reader.outputs[0]);  // a layout may be the last of several views
      }
    }

  Excerpt e;
  e.graph.name = g_.name;
  std::map<int, int> at;
  const auto tensor = [&](int t, bool made) {
    const auto [found, is_new] = at.insert({t, static_cast<int>(e.tensors.size())});
    if (is_new) {
      e.tensors.push_back(t);
      e.graph.tensors.push_back(g_.tensors[t]);
      e.graph.tensors.back().memory = -1;
      if (!made) e.graph.inputs.push_back(found->second);
    }
    return found->second;
  };
  for (int i : taken) {  // in the graph's order
    KernelOp op = g_.ops[i];
    if (op.kind == OpKind::slice && before.count(i) > 0)
      op.attributes.end -= std::exchange(op.attributes.start, 0);
    for (int& t : op.inputs) t = tensor(t, false);
    for (int& t : op.outputs) t = tensor(t, true);
    if (std::ranges::binary_search(ops, i)) e.ops.push_back(static_cast<int>(e.graph.ops.size()));
    e.graph.ops.push_back(std::move(op));
  }
  for (int t : copied) {
    KernelOp copy;
    copy.kind = OpKind::mul_scalar;
    copy.inputs = {at.at(t)}, copy.outputs = {static_cast<int>(e.tensors.size())};
    graph::KernelTensor of = g_.tensors[t];
    of.strides.clear(), of.memory = -1, of.name += "_read";
    e.tensors.push_back(-1);
    e.graph.tensors.push_back(std::move(of));
    e.graph.ops.push_back(std::move(copy));
  }
  for (const auto& [t, local] : at)
    if (is_output_[t]) e.graph.outputs.push_back(local);
  return e;
}

std::string key(const Excerpt& e) {
  KernelGraph g = e.graph;
  std::ranges::sort(g.outputs);
  std::string text = graph::structure(g);
  for (int i : e.ops) text += fmt::format(" {}", i);
  return text;
}

Kernel whole(const Kernel& made, const Excerpt& of, const Excerpt& like, const std::vector<int>& ops,
             const KernelGraph& g) {
  std::map<std::string, std::string> names;
  for (std::size_t t = 0; t < of.tensors.size(); ++t)
    names[of.graph.tensors[t].name] = like.graph.tensors[t].name;
  const auto tensor = [&](int t) {
    const auto local = static_cast<std::size_t>(t);
    if (local < like.tensors.size()) return like.tensors[local];
    return static_cast<int>(g.tensors.size() + local - like.tensors.size());
  };
  Kernel k = made;
  k.ops = ops;
  for (Part& part : k.parts) {
    for (int& t : part.loads) t = tensor(t);
    for (int& t : part.stores) t = tensor(t);
    auto block = std::make_shared<graph::BlockGraph>(*part.block);
    for (graph::BlockTensor& t : block->tensors)
      if (const auto name = names.find(t.name); name != names.end()) t.name = name->second;
    part.block = std::move(block);
  }
  for (graph::KernelTensor& t : k.between) {
    const std::string tensor_name = t.name.substr(0, t.name.rfind(parts_suffix));
    if (const auto name = names.find(tensor_name); name != names.end())
      t.name.replace(0, tensor_name.size(), name->second);
  }
  return k;
}

}  // namespace zellige::fuse
