#include "candidate/excerpt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "candidate/steps.hpp"
#include "graph/error.hpp"
#include "graph/ops.hpp"
#include "graph/view.hpp"
#include "reference/structure.hpp"
#include "rewrite/indexed.hpp"
#include "rewrite/lay_out.hpp"
#include "rewrite/rewrite.hpp"

namespace zellige::candidate {
namespace {

/// Returns the strides with which a tensor of shape `shape` and these strides is read or written in the shape `as`.
/// Requires that this needs no copy; strides may be empty, then returns empty ones.
graph::Strides reshaped(const graph::Strides& strides, const graph::Shape& shape, const graph::Shape& as) {
  if (strides.empty()) return {};
  const auto seen = graph::viewed(graph::OpKind::reshape, {}, shape, strides, as);
  if (!seen) fault("a kernel reads or writes a tensor in a shape that needs a copy");
  return seen->steps;
}

}  // namespace

Excerpts::Excerpts(const graph::KernelGraph& g)
    : g_(g), producer_(g.tensors.size(), -1), readers_(g.tensors.size()), laid_out_(g.tensors.size()) {
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    for (int t : g.ops[i].outputs) producer_[t] = static_cast<int>(i), laid_out_[t] = rewrite::lay_out(g, t);
    for (int t : g.ops[i].inputs)
      if (readers_[t].empty() || readers_[t].back() != static_cast<int>(i)) readers_[t].push_back(static_cast<int>(i));
  }
}

Excerpts::Taken Excerpts::taken(const Ops& ops) const {
  Taken result{{ops.begin(), ops.end()}, {}, {}};
  std::vector<int> seen, shown;  // operands whose producers may be views; results whose readers count
  for (int i : ops) {
    seen.insert(seen.end(), g_.ops[i].inputs.begin(), g_.ops[i].inputs.end());
    shown.insert(shown.end(), g_.ops[i].outputs.begin(), g_.ops[i].outputs.end());
  }
  for (std::size_t at = 0; at < seen.size(); ++at)
    if (const int by = producer_[seen[at]];
        by >= 0 && graph::is_view(g_.ops[by].kind) && result.all.insert(by).second) {
      result.before.insert(by);
      seen.insert(seen.end(), g_.ops[by].inputs.begin(), g_.ops[by].inputs.end());
    }
  const std::size_t results = shown.size();
  for (std::size_t at = 0; at < shown.size(); ++at)
    for (int r : readers_[shown[at]]) {
      const graph::KernelOp& reader = g_.ops[r];
      if (!graph::is_view(reader.kind)) {
        const bool places = graph::info(reader.kind).places;
        if ((at < results || places) && result.all.count(r) == 0)
          (places ? result.placed : result.copied).insert(shown[at]);
      } else if (result.all.insert(r).second) {
        shown.push_back(reader.outputs[0]);  // the tensor's layout may be set by the last of several views
      }
    }
  return result;
}

/// Returns the branches of group `ops`, by their first operators. A branch is a list of the group's operators that read each other's results,
/// directly or through views, together with these views and the views of its results, in the graph's order. `taken` is
/// the result of taken(ops): the group's operators, and the views of its operands and results.
std::map<int, Excerpts::Ops> Excerpts::branches(const Ops& ops, const Taken& taken) const {
  std::map<int, int> branch;  // by operator: the first operator of its branch; none for a view of an operand
  for (int i : taken.all) {
    std::set<int> met;
    for (int t : g_.ops[i].inputs)
      if (const auto by = branch.find(producer_[t]); by != branch.end()) met.insert(by->second);
    if (met.empty() && !std::ranges::binary_search(ops, i)) continue;
    const int own = met.empty() ? i : *met.begin();
    for (auto& [op, of] : branch)
      if (met.count(of) > 0) of = own;
    branch[i] = own;
  }
  std::map<int, Ops> result;
  for (const auto& [op, of] : branch) result[of].push_back(op);
  return result;
}

const std::string& Excerpts::key_of_branch(const Ops& ops) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(ops); found != known_.end()) return found->second;
  }
  std::string text = key(of(ops));
  const std::lock_guard lock(mutex_);
  return known_.emplace(ops, std::move(text)).first->second;
}

Excerpts::Ops Excerpts::in_one_order(const Ops& ops, const Taken& taken) const {
  const std::map<int, Ops> lists = branches(ops, taken);
  if (lists.size() < 2) return {taken.all.begin(), taken.all.end()};
  std::vector<std::pair<const std::string*, const Ops*>> by_key;
  for (const auto& [first, list] : lists) {
    Ops own;
    std::ranges::set_intersection(list, ops, std::back_inserter(own));
    by_key.emplace_back(&key_of_branch(own), &list);
  }
  std::ranges::stable_sort(by_key, {}, [](const auto& of) -> const std::string& { return *of.first; });
  Ops order;
  std::set<int> done;
  for (const auto& [text, list] : by_key) {
    std::set<int> next(list->begin(), list->end());
    for (Ops open = *list; !open.empty();) {
      const int at = open.back();
      open.pop_back();
      for (int t : g_.ops[at].inputs)
        if (const int by = producer_[t]; taken.all.count(by) > 0 && done.count(by) == 0 && next.insert(by).second)
          open.push_back(by);
    }
    order.insert(order.end(), next.begin(), next.end());
    done.insert(next.begin(), next.end());
  }
  return order;
}

Excerpt Excerpts::of(const Ops& ops) const {
  const Taken taken = this->taken(ops);
  Excerpt e;
  e.graph.name = g_.name;
  std::map<int, int> at;
  const auto append = [&](int of, graph::KernelTensor tensor) {
    tensor.memory = -1;
    e.tensors.push_back(of), e.graph.tensors.push_back(std::move(tensor));
    return static_cast<int>(e.tensors.size()) - 1;
  };
  const auto tensor = [&](int t, bool made) {
    const auto [found, is_new] = at.insert({t, -1});
    if (is_new) {
      found->second = append(t, g_.tensors[t]);
      const bool joined = !made && producer_[t] >= 0 && g_.ops[producer_[t]].kind == graph::OpKind::concat;
      // The views that decide on the layout of an operand are not in the excerpt.
      if (!made && !laid_out_[t].empty()) e.graph.tensors.back().strides = laid_out_[t];
      if (joined) {
        graph::KernelTensor part = e.graph.tensors.back();
        part.name += "_parts";
        const graph::Attributes along{.dim = g_.ops[producer_[t]].attributes.dim};
        e.graph.ops.push_back({graph::OpKind::concat, {append(-1, std::move(part))}, {found->second}, along});
      }
      if (!made) e.graph.inputs.push_back(joined ? e.graph.ops.back().inputs[0] : found->second);
    }
    return found->second;
  };
  for (int i : in_one_order(ops, taken)) {
    graph::KernelOp op = g_.ops[i];
    if (op.kind == graph::OpKind::slice && taken.before.count(i) > 0)
      op.attributes.end -= std::exchange(op.attributes.start, 0);
    for (int& t : op.inputs) t = tensor(t, false);
    for (int& t : op.outputs) t = tensor(t, true);
    if (std::ranges::binary_search(ops, i)) e.ops.push_back(static_cast<int>(e.graph.ops.size()));
    e.graph.ops.push_back(std::move(op));
  }
  const auto add_readers = [&](const std::set<int>& read, graph::OpKind kind, std::string_view suffix) {
    std::vector<int> sorted(read.begin(), read.end());
    std::ranges::sort(sorted, {}, [&](int t) { return at.at(t); });
    for (int t : sorted) {
      graph::KernelTensor of = g_.tensors[t];
      of.strides.clear(), of.name += suffix;
      e.graph.ops.push_back({kind, {at.at(t)}, {append(-1, std::move(of))}});
    }
  };
  add_readers(taken.copied, graph::OpKind::mul_scalar, "_read");
  add_readers(taken.placed, graph::OpKind::concat, "_placed");
  for (const auto& [t, local] : at)
    if (rewrite::is_output(g_, t)) e.graph.outputs.push_back(local);
  return e;
}

std::string key(const Excerpt& e) {
  graph::KernelGraph g = e.graph;
  std::ranges::sort(g.outputs);
  std::string text = reference::structure(g);
  for (int i : e.ops) text += fmt::format(" {}", i);
  return text;
}

GroupKernel whole(const GroupKernel& made, const Excerpt& of, const Excerpt& like, const std::vector<int>& ops,
                  const graph::KernelGraph& g) {
  std::map<std::string, std::string> names;
  for (std::size_t t = 0; t < of.tensors.size(); ++t) names[of.graph.tensors[t].name] = like.graph.tensors[t].name;
  const auto tensor = [&](int t) {
    if (t < 0) fault("a kernel reads or writes tensor {}: there is none", t);
    const auto local = static_cast<std::size_t>(t);
    if (local < like.tensors.size()) return like.tensors[local];
    return static_cast<int>(g.tensors.size() + local - like.tensors.size());
  };
  GroupKernel k = made;
  k.ops = ops;
  for (LaunchPart& part : k.parts) {
    for (SeenTensor& s : part.loads) s.tensor = tensor(s.tensor);
    for (SeenTensor& s : part.stores) s.tensor = tensor(s.tensor);
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

graph::KernelTensor outside(const graph::KernelGraph& g, int tensor) {
  const graph::KernelTensor& t = rewrite::checked(g.tensors, tensor, "tensor");
  const auto row_major = [&](int memory) { return graph::row_major(g.tensors[memory].shape); };
  return {t.dtype, t.shape, rewrite::strides_of(g, tensor, row_major), t.name, -1, t.constant};
}

graph::KernelGraph alone(const graph::KernelGraph& g, const GroupKernel& k) {
  graph::KernelGraph a;
  a.name = g.name;
  std::map<int, int> at;
  const auto add = [&](int t, graph::KernelTensor tensor) {
    a.tensors.push_back(std::move(tensor));
    return at[t] = static_cast<int>(a.tensors.size()) - 1;
  };
  // Windows are seen through their views: how they are read depends on these.
  const auto given = [&](const auto& self, int t) -> int {
    if (at.count(t) > 0) return at[t];
    if (!rewrite::shows_windows(g, t)) {
      const int input = add(t, outside(g, t));
      a.inputs.push_back(input);
      return input;
    }
    const auto view = std::ranges::find_if(g.ops, [&](const graph::KernelOp& op) { return op.outputs[0] == t; });
    const int from = self(self, view->inputs[0]);
    const graph::KernelTensor& y = g.tensors[t];
    const int result = add(t, {y.dtype, y.shape, {}, y.name});
    a.ops.push_back({view->kind, {from}, {result}, view->attributes});
    return result;
  };
  for (int i : concatenations(g, k.ops)) {
    graph::KernelOp op = g.ops[i];
    for (int& t : op.inputs) t = given(given, t);
    const graph::KernelTensor& y = g.tensors[op.outputs[0]];
    op.outputs = {add(op.outputs[0], {y.dtype, y.shape, {}, y.name})};
    a.ops.push_back(std::move(op));
  }
  for (const LaunchPart& part : k.parts) {
    graph::KernelOp op{.kind = graph::OpKind::custom, .block = part.block};
    for (const auto& [t, shape] : part.loads) {
      if (at.count(t) == 0 && rewrite::shows_windows(g, t)) {
        const int seen = given(given, t);
        if (shape != g.tensors[t].shape) {
          const int as = add(t, {g.tensors[t].dtype, shape, {}, g.tensors[t].name + "_rows"});
          a.ops.push_back({graph::OpKind::reshape, {seen}, {as}, {.sizes = shape}});
        }
      } else if (at.count(t) == 0) {
        graph::KernelTensor tensor = outside(g, t);
        tensor.strides = reshaped(tensor.strides, tensor.shape, shape);
        tensor.shape = shape;
        a.inputs.push_back(add(t, std::move(tensor)));
      }
      op.inputs.push_back(at[t]);
    }
    for (const auto& [t, shape] : part.stores) {
      const bool inner = t >= static_cast<int>(g.tensors.size());
      const graph::KernelTensor& whole = inner ? rewrite::checked(k.between, t - g.tensors.size(), "partial result")
                                               : rewrite::checked(g.tensors, t, "tensor");
      const bool in_full = !inner && graph::size(shape) == graph::size(whole.shape);
      const graph::Strides strides = in_full ? reshaped(rewrite::lay_out(g, t), whole.shape, shape) : graph::Strides{};
      op.outputs.push_back(add(t, {whole.dtype, shape, strides, whole.name}));
      if (!inner) a.outputs.push_back(op.outputs.back());
    }
    a.ops.push_back(std::move(op));
  }
  return a;
}

}  // namespace zellige::candidate
