#include "fuse/groups.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "candidate/excerpt.hpp"
#include "candidate/steps.hpp"
#include "graph/view.hpp"

namespace zellige::fuse {
namespace {

/// Returns, for each tensor, the operator that produces it, or -1 if the tensor is an input.
std::vector<int> producers(const graph::KernelGraph& g) {
  std::vector<int> producer(g.tensors.size(), -1);
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    for (int t : g.ops[i].outputs) producer[t] = static_cast<int>(i);
  return producer;
}

/// Sorts the list, and removes what it has twice.
void sort_each_once(std::vector<int>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

std::vector<int> OperatorSet::list() const {
  std::vector<int> result;
  for (std::size_t w = 0; w < words_.size(); ++w)
    for (std::uint64_t left = words_[w]; left != 0; left &= left - 1)
      result.push_back(static_cast<int>(64 * w) + std::countr_zero(left));
  return result;
}

Dependences order_of(const graph::KernelGraph& g) {
  const std::vector<int> producer = producers(g);
  Dependences o;
  for (const graph::KernelOp& op : g.ops) {
    OperatorSet direct(g.ops.size()), all(g.ops.size());
    for (int t : op.inputs)
      if (producer[t] >= 0) direct.add(producer[t]), all.add(producer[t]), all.add(o.all[producer[t]]);
    o.direct.push_back(direct), o.all.push_back(all);
  }
  return o;
}

std::vector<int> branch_by_branch(const graph::KernelGraph& g) {
  const std::vector<int> producer = producers(g);
  // By operator: the producers of its operands. A producer with a longer chain of operators before it comes first.
  std::vector<std::vector<int>> operands(g.ops.size());
  std::vector<int> depth(g.ops.size());
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    for (int t : g.ops[i].inputs)
      if (producer[t] >= 0) operands[i].push_back(producer[t]), depth[i] = std::max(depth[i], depth[producer[t]] + 1);
    std::ranges::stable_sort(operands[i], std::greater{}, [&](int by) { return depth[by]; });
  }
  std::vector<int> order;
  std::vector<std::size_t> looked(g.ops.size());  // number of operands visited
  std::vector<bool> done(g.ops.size());
  const auto add = [&](int op) {
    for (std::vector<int> open{op}; !open.empty();) {
      const int at = open.back();
      if (done[at] || looked[at] == operands[at].size()) {
        if (!done[at]) order.push_back(at);
        done[at] = true;
        open.pop_back();
      } else if (const int by = operands[at][looked[at]++]; !done[by]) {
        open.push_back(by);
      }
    }
  };
  for (int t : g.outputs)
    if (producer[t] >= 0) add(producer[t]);
  for (std::size_t i = 0; i < g.ops.size(); ++i) add(static_cast<int>(i));
  return order;
}

bool is_convex(const OperatorSet& s, const Dependences& o) {
  const std::vector<int> group = s.list();
  OperatorSet before(o.all.size());
  for (int y : group) before.add(o.all[y]);
  for (int x : before.list())
    if (x > group.front() && !s.has(x) && o.all[x].intersects(s)) return false;
  return true;
}

GroupNeighbours::GroupNeighbours(const graph::KernelGraph& g) : of_each_(g.ops.size()) {
  std::vector<int> shown(g.tensors.size());  // by tensor: the tensor that it is a view of, or itself
  std::iota(shown.begin(), shown.end(), 0);
  for (const graph::KernelOp& op : g.ops)
    if (graph::is_view(op.kind)) shown[op.outputs[0]] = shown[op.inputs[0]];
  const auto connect = [&](int a, int b) {
    if (a == b) return;
    of_each_[a].push_back(b), of_each_[b].push_back(a);
  };
  const std::vector<int> producer = producers(g);
  std::map<int, std::vector<int>> readers;  // by the tensor that they read, directly or through views
  for (int x = 0; x < std::ssize(g.ops); ++x) {
    if (!candidate::fusable(g, x)) continue;
    for (int t : g.ops[x].inputs)
      if (std::vector<int>& of = readers[shown[t]]; of.empty() || of.back() != x) of.push_back(x);
  }
  const candidate::Excerpts excerpts(g);
  std::map<int, std::set<std::string>> met;  // by tensor with many readers: the kinds of its readers so far
  for (int x = 0; x < std::ssize(g.ops); ++x) {
    if (!candidate::fusable(g, x)) continue;
    for (int t : g.ops[x].inputs) {
      if (producer[t] < 0 || !candidate::fusable(g, producer[t])) continue;
      if (readers[shown[t]].size() <= few_readers || met[t].insert(candidate::key(excerpts.of({x}))).second)
        connect(producer[t], x);
    }
  }
  for (const auto& [tensor, of] : readers) {
    const bool many = of.size() > few_readers;
    if (many) of_many_.insert(of_many_.end(), of.begin(), of.end());
    for (std::size_t i = 0; i < of.size(); ++i)
      for (std::size_t j = i + 1; j < (many ? std::min(i + 2, of.size()) : of.size()); ++j) connect(of[i], of[j]);
  }
  std::ranges::for_each(of_each_, sort_each_once);
  sort_each_once(of_many_);
}

std::vector<int> GroupNeighbours::of(const std::vector<int>& group) const {
  std::vector<int> result;
  for (int x : group) result.insert(result.end(), of_each_[x].begin(), of_each_[x].end());
  sort_each_once(result);
  std::erase_if(result, [&](int x) { return std::ranges::binary_search(group, x); });
  return result;
}

Twins::Twins(const graph::KernelGraph& g, const Dependences& order) : kind_(g.ops.size(), -1) {
  std::vector<int> readers(g.tensors.size());
  for (const graph::KernelOp& op : g.ops)
    for (int t : op.inputs) ++readers[t];
  const auto is_read = [&](int t) { return readers[t] > 0; };
  const candidate::Excerpts excerpts(g);
  std::map<std::tuple<std::string, std::vector<int>, OperatorSet>, int>
      kinds;  // by excerpt's key, operands with several readers, and operators that it reads
  for (int x = 0; x < std::ssize(g.ops); ++x) {
    const graph::KernelOp& op = g.ops[x];
    if (!candidate::fusable(g, x) || std::ranges::any_of(op.outputs, is_read)) continue;
    std::vector<int> common;
    for (int t : op.inputs) common.push_back(readers[t] > 1 ? t : -1);
    const auto at = kinds.try_emplace({candidate::key(excerpts.of({x})), common, order.direct[x]}, std::ssize(each_));
    kind_[x] = at.first->second;
    if (at.second) each_.emplace_back();
    each_[kind_[x]].push_back(x);
  }
}

std::vector<int> Twins::first(const std::vector<int>& group, const OperatorSet& taken) const {
  const int kind = kind_[group[0]];
  if (kind < 0 || std::ranges::any_of(group, [&](int x) { return kind_[x] != kind; })) return group;
  std::vector<int> found;
  for (int x : each_[kind])
    if (!taken.has(x) && found.size() < group.size()) found.push_back(x);
  return found;
}

}  // namespace zellige::fuse
