#include "ranks/over_ranks.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "graph/collective.hpp"
#include "graph/infer.hpp"

namespace zellige::ranks {
namespace {

using graph::Attributes, graph::DType, graph::KernelGraph, graph::KernelOp, graph::KernelTensor, graph::OpKind,
    graph::Shape, graph::row_major, graph::fail_at;

/// Builds the graph of all ranks' tensors.
class OverRanks {
 public:
  explicit OverRanks(const KernelGraph& g) : g_(g), at_(g.ranks, std::vector<int>(g.tensors.size(), -1)) {
    out_.name = g.name;
  }

  /// Adds the inputs, all of every rank's own.
  void inputs() {
    for (int r = 0; r < g_.ranks; ++r)
      for (int t : g_.inputs) {
        at_[r][t] = copy(t, r);
        out_.inputs.push_back(at_[r][t]);
      }
  }

  /// Adds inputs that are the whole tensors; each rank has its part if `dims` gives a dimension, else all of it.
  void whole_inputs(const std::map<int, int>& dims) {
    for (int t : g_.inputs) {
      KernelTensor whole = g_.tensors[t];
      const auto dim = dims.find(t);
      if (dim != dims.end()) whole.shape[dim->second] *= g_.ranks, whole.strides = row_major(whole.shape);
      const Shape shape = whole.shape;
      const int index = add(std::move(whole));
      out_.inputs.push_back(index);
      for (int r = 0; r < g_.ranks; ++r) at_[r][t] = dim == dims.end() ? index : part(index, shape, dim->second, r);
    }
  }

  void operators() {
    for (const KernelOp& op : g_.ops) {
      if (is_collective(op.kind))
        for (int r = 0; r < g_.ranks; ++r) collective(op, r);
      else
        for (int r = 0; r < g_.ranks; ++r) ordinary(op, r);
    }
  }

  void outputs() {
    for (int r = 0; r < g_.ranks; ++r)
      for (int t : g_.outputs) out_.outputs.push_back(at_[r][t]);
  }

  /// Adds outputs that are the whole tensors: the ranks' parts joined if `dims` gives a dimension, else that of a rank.
  void whole_outputs(const std::map<int, int>& dims, int from) {
    for (int t : g_.outputs) {
      const auto dim = dims.find(t);
      const int y = at_[from][t];
      if (dim == dims.end() || g_.ranks == 1) {
        out_.outputs.push_back(y), renamed_[y] = g_.tensors[t].name;
        continue;
      }
      KernelTensor whole{.name = g_.tensors[t].name};
      std::vector<int> parts;
      for (const std::vector<int>& rank : at_) parts.push_back(rank[t]);
      out_.outputs.push_back(step(OpKind::concat, parts, {.dim = dim->second}, add(std::move(whole))));
    }
    for (const auto& [t, name] : renamed_) out_.tensors[t].name = name;
  }

  KernelGraph take() { return std::move(out_); }

 private:
  int add(KernelTensor t) {
    out_.tensors.push_back(std::move(t));
    return static_cast<int>(out_.tensors.size()) - 1;
  }
  /// Adds a tensor for rank r's copy of tensor t.
  int copy(int t, int r) {
    KernelTensor mine = g_.tensors[t];
    mine.name = name_of_rank(mine.name, r);
    if (mine.memory >= 0) mine.memory = at_[r][mine.memory];
    return add(std::move(mine));
  }
  int step(OpKind kind, std::vector<int> in, Attributes a, int result) {
    out_.ops.push_back({.kind = kind, .inputs = std::move(in), .outputs = {result}, .attributes = std::move(a)});
    return result;
  }
  int between() { return add({}); }  // infer() gives it its shape and name

  /// Returns rank r's part of x, of `shape`, along `dim`.
  int part(int x, const Shape& shape, std::int64_t dim, int r) {
    if (g_.ranks == 1) return x;
    std::vector<int>& parts = parts_[{x, dim}];
    if (parts.empty()) {
      const std::int64_t ranks = g_.ranks;
      KernelOp split{.kind = OpKind::split, .inputs = {x}};
      split.attributes = {.dim = static_cast<int>(dim), .sizes = Shape(g_.ranks, shape[dim] / ranks)};
      for (int i = 0; i < g_.ranks; ++i) split.outputs.push_back(between());
      parts = split.outputs;
      out_.ops.push_back(std::move(split));
    }
    return parts[r];
  }
  /// Adds x itself, as the tensor `result`.
  int same(int x, const Shape& shape, int result) {
    std::vector<std::int64_t> dims(shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    return step(OpKind::permute, {x}, {.sizes = std::move(dims)}, result);
  }
  /// Adds the sum or maximum of tensors, in order.
  int folded(OpKind kind, const std::vector<int>& x, const Shape& shape, int result) {
    if (x.size() == 1) return same(x[0], shape, result);
    int sum = x[0];
    for (std::size_t i = 1; i < x.size(); ++i)
      sum = step(kind, {sum, x[i]}, {}, i + 1 == x.size() ? result : between());
    return result;
  }
  int joined(const std::vector<int>& x, const Shape& shape, int dim, int result) {
    return x.size() == 1 ? same(x[0], shape, result) : step(OpKind::concat, x, {.dim = dim}, result);
  }

  void ordinary(const KernelOp& op, int r) {
    KernelOp mine = op;
    for (int& t : mine.inputs) t = at_[r][t];
    for (int& t : mine.outputs) t = at_[r][t] = copy(t, r);
    out_.ops.push_back(std::move(mine));
  }

  void collective(const KernelOp& op, int r) {
    const int y = op.outputs[0], to = at_[r][y] = copy(y, r);
    if (op.kind == OpKind::rank) return number(r, to);
    const Shape& shape = g_.tensors[op.inputs[0]].shape;
    std::vector<int> x;
    for (const std::vector<int>& rank : at_) x.push_back(rank[op.inputs[0]]);
    const auto parts = [&](std::int64_t dim) {  // those that go to rank r
      for (int& t : x) t = part(t, shape, dim, r);
    };
    switch (op.kind) {
      case OpKind::all_reduce:
        folded(OpKind::add, x, shape, to);
        return;
      case OpKind::all_reduce_max:
        folded(OpKind::maximum, x, shape, to);
        return;
      case OpKind::all_gather:
        joined(x, shape, op.attributes.dim, to);
        return;
      case OpKind::reduce_scatter:
        parts(op.attributes.dim);
        folded(OpKind::add, x, g_.tensors[y].shape, to);
        return;
      case OpKind::all_to_all:
        parts(op.attributes.sizes[0]);
        joined(x, g_.tensors[y].shape, static_cast<int>(op.attributes.sizes[1]), to);
        return;
      default:  // broadcast
        same(x[op.attributes.start], shape, to);
    }
  }

  /// Adds the number r. Graphs have no constants: it is the value of a mask that keeps nothing.
  void number(int r, int result) {
    if (g_.inputs.empty()) fail_at({g_.name}, "expected an input in a graph that asks for its rank, found none");
    const KernelTensor& input = g_.tensors[g_.inputs[0]];
    int x = at_[r][g_.inputs[0]];
    for (std::size_t d = 0; d < input.shape.size(); ++d)
      x = step(OpKind::slice, {x}, {.dim = static_cast<int>(d), .start = 0, .end = 1}, between());
    if (input.dtype != DType::f32) x = step(OpKind::cast, {x}, {.dtype = DType::f32}, between());
    x = step(OpKind::reshape, {x}, {.sizes = {1, 1}}, between());
    x = step(OpKind::mask, {x}, {.kept = {.length = 0}, .value = static_cast<double>(r)}, between());
    x = step(OpKind::reshape, {x}, {.sizes = {1}}, between());
    step(OpKind::cast, {x}, {.dtype = DType::int32}, result);
  }

  const KernelGraph& g_;
  KernelGraph out_;
  std::vector<std::vector<int>> at_;                                // by rank and tensor of g_: the tensor of out_
  std::map<std::pair<int, std::int64_t>, std::vector<int>> parts_;  // of tensors of out_ along dimensions
  std::map<int, std::string> renamed_;                              // outputs of whole tensors
};

/// Returns the graph without operators that do what an earlier one does, and without those that no output needs. Tensors
/// have no strides of their own, and no memory.
KernelGraph once(const KernelGraph& g) {
  std::vector<int> same(g.tensors.size());  // the first tensor with that value
  for (std::size_t t = 0; t < same.size(); ++t) same[t] = static_cast<int>(t);
  std::map<std::pair<OpKind, std::vector<int>>, std::vector<int>> met;  // operators by kind and operands
  std::set<int> stored(g.outputs.begin(), g.outputs.end());
  std::vector<KernelOp> ops;
  for (KernelOp op : g.ops) {
    for (int& t : op.inputs) t = same[t];
    std::vector<int>& twins = met[{op.kind, op.inputs}];
    const auto stored_twice = [&](int i) {  // as two outputs of the graph, which must not be one tensor
      for (std::size_t k = 0; k < op.outputs.size(); ++k)
        if (stored.contains(op.outputs[k]) && stored.contains(ops[i].outputs[k])) return true;
      return false;
    };
    const auto twin = std::ranges::find_if(twins, [&](int i) {
      return ops[i].attributes == op.attributes && ops[i].block == op.block &&
             ops[i].outputs.size() == op.outputs.size() && !stored_twice(i);
    });
    for (std::size_t i = 0; i < op.outputs.size() && twin != twins.end(); ++i)
      if (stored.contains(op.outputs[i])) stored.insert(ops[*twin].outputs[i]);
    for (std::size_t i = 0; i < op.outputs.size() && twin != twins.end(); ++i)
      same[op.outputs[i]] = ops[*twin].outputs[i];
    if (twin != twins.end()) continue;
    twins.push_back(static_cast<int>(ops.size()));
    ops.push_back(std::move(op));
  }
  std::set<int> needed;
  for (int t : g.outputs) needed.insert(same[t]);
  for (auto op = ops.rbegin(); op != ops.rend(); ++op)
    if (std::ranges::any_of(op->outputs, [&](int t) { return needed.contains(t); }))
      needed.insert(op->inputs.begin(), op->inputs.end());
    else
      op->outputs.clear();
  KernelGraph out{.name = g.name};
  std::vector<int> to(g.tensors.size(), -1);
  const auto keep = [&](int t) {
    KernelTensor tensor = g.tensors[t];
    tensor.memory = -1;
    if (std::ranges::find(g.inputs, t) == g.inputs.end()) tensor.strides.clear();
    out.tensors.push_back(std::move(tensor));
    return to[t] = static_cast<int>(out.tensors.size()) - 1;
  };
  for (int t : g.inputs) out.inputs.push_back(keep(t));
  for (KernelOp& op : ops) {
    if (op.outputs.empty()) continue;
    for (int& t : op.inputs) t = to[t];
    for (int& t : op.outputs) t = keep(t);
    out.ops.push_back(std::move(op));
  }
  for (int t : g.outputs) {
    out.outputs.push_back(to[same[t]]);
    out.tensors[out.outputs.back()].name = g.tensors[t].name;
  }
  return out;
}

/// Returns the dimension of each sharded tensor. Throws Error if a shard names no input or output, or no dimension of it.
std::map<int, int> dims_of(const KernelGraph& g, const std::vector<Shard>& shards) {
  std::map<int, int> dims;
  for (const Shard& s : shards) {
    std::vector<int> all = g.inputs;
    all.insert(all.end(), g.outputs.begin(), g.outputs.end());
    const auto t = std::ranges::find_if(all, [&](int i) { return g.tensors[i].name == s.tensor; });
    if (t == all.end())
      fail("graph {}: expected a sharded tensor to be an input or an output, found {}", g.name, s.tensor);
    const Shape& shape = g.tensors[*t].shape;
    if (s.dim < 0 || s.dim >= static_cast<int>(shape.size()))
      fail("graph {}: expected {} to be sharded along a dimension of {}, found {}", g.name, s.tensor,
           graph::to_string(shape), s.dim);
    if (!dims.emplace(*t, s.dim).second) fail("graph {}: expected one shard of {}, found two", g.name, s.tensor);
  }
  return dims;
}

}  // namespace

std::string name_of_rank(const std::string& tensor, int rank) { return fmt::format("{}@{}", tensor, rank); }

KernelGraph over_ranks(const KernelGraph& g) {
  OverRanks all(g);
  all.inputs(), all.operators(), all.outputs();
  return infer(all.take());
}

KernelGraph unsharded(const KernelGraph& g, const std::vector<Shard>& shards, int from) {
  const std::map<int, int> dims = dims_of(g, shards);
  OverRanks all(g);
  all.whole_inputs(dims), all.operators(), all.whole_outputs(dims, from);
  return infer(once(all.take()));
}

}  // namespace zellige::ranks
