#include "ranks/tails.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "graph/collective.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "graph/sized_graph.hpp"
#include "ranks/over_ranks.hpp"

namespace zellige::ranks {

using graph::KernelGraph, graph::KernelOp, graph::KernelTensor, graph::OpFamily, graph::OpKind, graph::Shape;

namespace {

/// Returns the tensor of a graph by its name.
int named(const KernelGraph& g, const std::string& name) {
  return static_cast<int>(std::ranges::find(g.tensors, name, &KernelTensor::name) - g.tensors.begin());
}

/// Returns the segment of some operators of another one. `wanted`: tensors of that one that others need.
Segment part_of(const KernelGraph& g, const KernelGraph& from, const std::vector<int>& ops, const std::set<int>& wanted,
                const std::string& name) {
  Segment s;
  s.kernels.name = name;
  std::map<int, int> at;
  const auto add = [&](int t, bool stored) {
    KernelTensor copy = from.tensors[t];
    if (stored && copy.strides.empty()) copy.strides = graph::row_major(copy.shape);
    s.kernels.tensors.push_back(std::move(copy));
    return at[t] = static_cast<int>(s.kernels.tensors.size()) - 1;
  };
  for (const int i : ops) {
    KernelOp op = from.ops[i];
    for (int& t : op.inputs) {
      if (!at.contains(t)) s.kernels.inputs.push_back(add(t, true)), s.inputs.push_back(named(g, from.tensors[t].name));
      t = at.at(t);
    }
    for (int& t : op.outputs) {
      const int whole = t;
      t = add(whole, wanted.contains(whole));
      if (wanted.contains(whole))
        s.kernels.outputs.push_back(t), s.outputs.push_back(named(g, from.tensors[whole].name));
    }
    s.kernels.ops.push_back(std::move(op));
  }
  return s;
}

bool has_results_in_place(const KernelGraph& k) {
  return std::ranges::any_of(k.tensors, [](const KernelTensor& t) { return t.memory >= 0; });
}

/// Has the given lines of a graph have the number of elements of the tensor `x` of the graph of which it is a part, for all values of sizes.
void keep_count(KernelGraph& made, const std::vector<int>& lines, const KernelGraph& g, int x) {
  if (!g.sizes) return;
  const std::vector<graph::SymbolicShape> shapes = graph::extents(g);
  graph::SymbolicExtent count = 1;
  for (const graph::SymbolicExtent& e : shapes[static_cast<std::size_t>(x)]) count = count * e;
  if (count.constant()) return;
  graph::SymbolicSizes sizes;
  for (const graph::NamedSize& size : graph::sizes_of(g))
    if (std::ranges::any_of(count.sizes(), [&](const graph::NamedSize* s) { return s->name == size.name; }))
      sizes.names.push_back(size);
  for (const int t : lines) sizes.integers.emplace(graph::IntegerPlace{graph::IntegerPlace::Of::shape, t}, count);
  made.sizes = std::make_shared<const graph::SymbolicSizes>(std::move(sizes));
}

/// Returns the shape in which a sum without a tail is computed: any will do, and a line is cut best.
Shape shape_alone(const KernelGraph& g, const KernelTensor& x) {
  return g.sizes ? Shape{graph::size(x.shape)} : Shape{1, graph::size(x.shape)};
}

/// Returns whether an operator is a product whose first operand, and no other one, is `a`.
bool multiplies(const KernelOp& op, int a) {
  return (op.kind == OpKind::matmul || op.kind == OpKind::custom) && op.inputs[0] == a &&
         std::ranges::count(op.inputs, a) == 1;
}

/// Returns whether an operator on tensors of a shape, and on values by row of them, makes such ones: it is elementwise, a norm, or reduces rows.
bool may_follow(const KernelGraph& k, const KernelOp& op, const Shape& shape) {
  const OpFamily f = graph::family(op.kind);
  Shape by_row = shape;
  by_row.back() = 1;
  return (f == OpFamily::elementwise || f == OpFamily::composed || f == OpFamily::reduction) &&
         std::ranges::all_of(op.outputs,
                             [&](int t) { return k.tensors[t].shape == shape || k.tensors[t].shape == by_row; });
}

}  // namespace

TailCut cut_tail(const KernelGraph& g, const Segment& s, int result, bool needed_later) {
  const KernelGraph& k = s.kernels;
  const int a = named(k, g.tensors[result].name);
  TailCut cut{.rest = s};
  if (a == static_cast<int>(k.tensors.size()) || has_results_in_place(k) || k.sizes) return cut;
  std::set<int> made{a}, there(k.inputs.begin(), k.inputs.end());
  std::vector<int> tail, rest;
  for (int i = 0; i < static_cast<int>(k.ops.size()); ++i) {
    const KernelOp& op = k.ops[i];
    const auto is_there = [&](int t) { return there.contains(t); };
    const auto is_made = [&](int t) { return made.contains(t); };
    const bool follows = may_follow(k, op, k.tensors[a].shape) && std::ranges::all_of(op.inputs, is_there) &&
                         std::ranges::any_of(op.inputs, is_made);
    (follows ? tail : rest).push_back(i);
    if (follows) made.insert(op.outputs.begin(), op.outputs.end()), there.insert(op.outputs.begin(), op.outputs.end());
  }
  if (tail.empty()) return cut;
  std::set<int> outputs(k.outputs.begin(), k.outputs.end()), wanted = outputs;
  for (int i : rest) wanted.insert(k.ops[i].inputs.begin(), k.ops[i].inputs.end());
  cut.tail = part_of(g, k, tail, wanted, k.name + "_tail");
  if (needed_later || wanted.contains(a)) {
    cut.tail.outputs.push_back(result);
    cut.tail.kernels.outputs.push_back(named(cut.tail.kernels, g.tensors[result].name));
  }
  cut.rest = rest.empty() ? Segment{} : part_of(g, k, rest, outputs, k.name + "_rest");
  return cut;
}

TailCut cut_product(const KernelGraph& g, const Segment& s, int result) {
  const KernelGraph& k = s.kernels;
  const int a = named(k, g.tensors[result].name);
  TailCut cut{.rest = s};
  if (a == static_cast<int>(k.tensors.size()) || has_results_in_place(k) || k.sizes) return cut;
  std::set<int> made, there(k.inputs.begin(), k.inputs.end());
  std::vector<int> tail, rest;
  for (int i = 0; i < static_cast<int>(k.ops.size()); ++i) {
    const KernelOp& op = k.ops[i];
    const auto is_there = [&](int t) { return there.contains(t); };
    const auto is_made = [&](int t) { return made.contains(t); };
    const bool follows = graph::family(op.kind) == OpFamily::elementwise && std::ranges::any_of(op.inputs, is_made) &&
                         k.tensors[op.outputs[0]].shape == k.tensors[*made.begin()].shape;
    const bool taken = std::ranges::all_of(op.inputs, is_there) && (multiplies(op, a) || follows);
    if (std::ranges::find(op.inputs, a) != op.inputs.end() && !(taken && multiplies(op, a))) return cut;
    (taken ? tail : rest).push_back(i);
    if (taken) made.insert(op.outputs.begin(), op.outputs.end()), there.insert(op.outputs.begin(), op.outputs.end());
  }
  if (tail.empty()) return cut;
  std::set<int> outputs(k.outputs.begin(), k.outputs.end()), wanted = outputs;
  for (int i : rest) wanted.insert(k.ops[i].inputs.begin(), k.ops[i].inputs.end());
  cut.tail = part_of(g, k, tail, wanted, k.name + "_product");
  cut.rest = rest.empty() ? Segment{} : part_of(g, k, rest, outputs, k.name + "_rest");
  return cut;
}

KernelGraph after_gathered(const KernelGraph& g, const Segment& tail, const KernelOp& collective) {
  KernelGraph made = tail.kernels;
  const int gathered = named(made, g.tensors[collective.outputs[0]].name);
  std::erase(made.inputs, gathered), made.inputs.insert(made.inputs.begin(), gathered);
  made.tensors[gathered].strides = graph::row_major(made.tensors[gathered].shape);
  return made;
}

std::optional<KernelGraph> with_rank_dimension(KernelGraph g, int ranks) {
  const std::int64_t rows = g.tensors[g.inputs[0]].shape[0];
  std::set<int> by_rank, weights;
  for (const KernelOp& op : g.ops) {
    if (op.kind == OpKind::custom) return std::nullopt;
    const bool product = op.kind == OpKind::matmul;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) (product && i > 0 ? weights : by_rank).insert(op.inputs[i]);
    by_rank.insert(op.outputs.begin(), op.outputs.end());
  }
  for (int t = 0; t < static_cast<int>(g.tensors.size()); ++t) {
    KernelTensor& x = g.tensors[t];
    if (x.shape.size() != 2 || by_rank.contains(t) == weights.contains(t)) return std::nullopt;
    if (weights.contains(t)) continue;
    const bool all = x.shape[0] == rows;
    if (!all && x.shape[0] != 1) return std::nullopt;
    const std::int64_t of_rank = x.shape[0] / (all ? ranks : 1);
    x.shape = {all ? ranks : 1, of_rank, x.shape[1]};
    if (!x.strides.empty()) x.strides = {of_rank * x.strides[0], x.strides[0], x.strides[1]};
  }
  // Rows of ranks that lie one after another would be one dimension again.
  KernelTensor& all = g.tensors[g.inputs[0]];
  constexpr std::int64_t line = 64;
  all.strides = {(all.shape[1] * all.shape[2] / line + 2) * line, all.shape[2], 1};
  return g;
}

KernelGraph after_sum(const KernelGraph& g, const Segment& tail, const KernelOp& collective, int ranks) {
  const KernelTensor& x = g.tensors[collective.inputs[0]];
  const int result = collective.outputs[0];
  KernelGraph made = tail.kernels;
  const bool alone = made.ops.empty();
  if (alone) made = {};
  made.name = g.name + "_" + g.tensors[alone ? result : tail.outputs.at(0)].name;
  const Shape shape = alone ? shape_alone(g, x) : x.shape;
  const auto add = [&](std::string name) {
    made.tensors.push_back(
        {.dtype = x.dtype, .shape = shape, .strides = graph::row_major(shape), .name = std::move(name)});
    return static_cast<int>(made.tensors.size()) - 1;
  };
  std::vector<int> windows;
  for (int r = 0; r < ranks; ++r) windows.push_back(add(name_of_rank(x.name, r)));
  int sum = alone ? -1 : named(made, g.tensors[result].name);
  if (alone) sum = add(g.tensors[result].name), made.outputs = {sum};
  std::erase(made.inputs, sum);
  if (!alone && std::ranges::find(made.outputs, sum) == made.outputs.end()) made.tensors[sum].strides = {};
  made.inputs.insert(made.inputs.begin(), windows.begin(), windows.end());
  std::vector<KernelOp> adds;
  for (int r = 1, last = windows[0]; r < ranks; ++r) {
    const int next = r + 1 == ranks ? sum : add(name_of_rank(x.name, r) + "_sum");
    if (next != sum) made.tensors[next].strides = {};
    adds.push_back({.kind = collective.kind == OpKind::all_reduce ? OpKind::add : OpKind::maximum,
                    .inputs = {last, windows[r]},
                    .outputs = {next}});
    last = next;
  }
  made.ops.insert(made.ops.begin(), adds.begin(), adds.end());
  if (alone) keep_count(made, windows, g, collective.inputs[0]);
  return made;
}

KernelGraph after_made_sum(const KernelGraph& g, const Segment& tail, const KernelOp& collective) {
  const int result = collective.outputs[0];
  const KernelTensor& x = g.tensors[collective.inputs[0]];
  KernelGraph made = tail.kernels;
  const bool alone = made.ops.empty();
  if (alone) made = {};
  made.name = g.name + "_" + g.tensors[alone ? result : tail.outputs.at(0)].name;
  const auto copy = [&](int from, KernelTensor to, const std::string& name) {
    to.name = name, to.strides = graph::row_major(to.shape);
    made.tensors.push_back(std::move(to));
    const int copied = static_cast<int>(made.tensors.size()) - 1;
    made.ops.push_back(
        {.kind = OpKind::maximum, .inputs = {from}, .outputs = {copied}, .attributes = {.scalar = -INFINITY}});
    return copied;
  };
  if (alone) {
    const Shape line = shape_alone(g, x);
    KernelTensor sum{.dtype = x.dtype, .shape = line, .strides = graph::row_major(line), .name = "sum"};
    made.tensors.push_back(sum), made.inputs = {0};
    made.outputs = {copy(0, sum, g.tensors[result].name)};
    keep_count(made, {0}, g, collective.inputs[0]);
    return made;
  }
  const int sum = named(made, g.tensors[result].name);
  std::erase(made.inputs, sum), made.inputs.insert(made.inputs.begin(), sum);
  made.tensors[sum].strides = graph::row_major(x.shape);
  // The result itself may be an output, too: the totals in memory that ranks have in common are not.
  if (const auto out = std::ranges::find(made.outputs, sum); out != made.outputs.end()) {
    const auto at = out - made.outputs.begin();
    made.tensors[sum].name += "_sum";
    made.outputs[static_cast<std::size_t>(at)] = copy(sum, made.tensors[sum], g.tensors[result].name);
  }
  return made;
}

}  // namespace zellige::ranks
