#include "lower/write_through.hpp"

#include <algorithm>
#include <set>

#include "graph/view.hpp"
#include "lower/views.hpp"

namespace zellige::lower {
namespace {

using graph::KernelOp;

/// A tensor, and the strides that it would have in the memory of the final tensor.
struct Lying {
  int tensor = -1;
  graph::Strides strides;
};

/// A tensor, and the chain of reshapes and permutes back to the operator `producer` that computes it.
struct ViewChain {
  std::vector<Lying> way;  // the tensors of the chain, from the last one to the computed one
  std::vector<int> views;  // operators of the chain
  int producer = -1;
  /// Returns the first tensor of the chain of reshapes and permutes: the tensor that the operator `producer` computes.
  const Lying& first() const { return way.back(); }
};

bool is_output(const graph::KernelGraph& g, int t) { return std::ranges::count(g.outputs, t) > 0; }

/// Returns the operator that computes tensor t, or -1 if t is an input of the graph.
int producer(const graph::KernelGraph& g, int t) {
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    if (std::ranges::count(g.ops[i].outputs, t) > 0) return static_cast<int>(i);
  return -1;
}

/// Returns the chain of reshapes and permutes whose last result is `tensor`, and the operator that computes
/// the chain's first tensor. Also returns the strides with which each tensor of the chain is in the memory of
/// `tensor`, which has the given strides. The chain begins after the last reshape that strides cannot express.
ViewChain made(const graph::KernelGraph& g, int tensor, graph::Strides strides) {
  ViewChain m{{{tensor, std::move(strides)}}, {}, producer(g, tensor)};
  while (m.producer >= 0 && graph::is_whole_view(g.ops[m.producer].kind)) {
    const KernelOp& view = g.ops[m.producer];
    const int from = view.inputs[0];
    const auto seen =
        graph::operand_strides(view, g.tensors[from].shape, g.tensors[m.first().tensor].shape, m.first().strides);
    if (!seen) break;
    m.views.push_back(m.producer);
    m.way.push_back({from, *seen});
    m.producer = producer(g, from);
  }
  return m;
}

class WriteThrough {
 public:
  WriteThrough(tile::TilePrograms& program, const graph::KernelGraph& g, const std::vector<int>& order,
               const target::Target& target)
      : program_(program), g_(g), place_(g.ops.size()), target_(target) {
    for (std::size_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
  }

  std::set<int> run() {
    for (const WrittenAs& w : written_as(g_)) {
      const int to = g_.ops[w.view].outputs[0];
      const graph::Shape& shape = g_.tensors[w.tensor].shape;
      settle_strides(program_, to, true, target_);
      make_view(program_, w.tensor, to, shape, w.strides, graph::Shape(shape.size(), 0));
    }
    for (int i = 0; i < size(); ++i)
      if (g_.ops[i].kind == graph::OpKind::slice_scatter) into_memory(i);
    return std::move(done_);
  }

 private:
  int size() const { return static_cast<int>(g_.ops.size()); }

  /// Returns whether the first tensor of the chain of reshapes and permutes `m` may be stored in another
  /// tensor's memory: a custom operator computes it, and it is neither an output of the graph nor a view.
  bool is_free(const ViewChain& m) const {
    const int t = m.first().tensor;
    return m.producer >= 0 && g_.ops[m.producer].kind == graph::OpKind::custom && !is_output(g_, t) &&
           program_.views.count(t) == 0;
  }

  /// Lets the operator whose result the in-place slice_scatter `op` stores write directly into the memory
  /// that slice_scatter updates. Does nothing if another operator needs the result, or reads the memory's old
  /// contents later.
  void into_memory(int op) {
    const KernelOp& scatter = g_.ops[op];
    const int y = scatter.outputs[0], old = scatter.inputs[0];
    if (g_.tensors[y].memory < 0 || g_.tensors[y].memory != old) return;
    const graph::Strides strides = program_.tensors[old].strides;
    const ViewChain m = made(g_, scatter.inputs[1], strides);
    if (!is_free(m) || !is_alone(m) || !read_before(old, m.producer, op)) return;
    if (scatter.inputs.size() > 2 && !comes_before(scatter.inputs[2], m.producer)) return;
    make_view(program_, y, old, g_.tensors[old].shape, strides, program_.starts(old), y);
    for (const Lying& l : m.way) put(scatter, l);
    done_.insert(op), done_.insert(m.views.begin(), m.views.end());
  }

  /// Returns whether every tensor of the chain of reshapes and permutes `m` has exactly one reader and is no
  /// output, so that no other operator depends on where it is stored.
  bool is_alone(const ViewChain& m) const {
    return std::ranges::all_of(m.way, [&](const Lying& l) {
      const auto reads = [&](const KernelOp& op) { return std::ranges::count(op.inputs, l.tensor) > 0; };
      return std::ranges::count_if(g_.ops, reads) == 1 && !is_output(g_, l.tensor);
    });
  }

  /// Makes tensor l.tensor, with the strides l.strides, a view of the memory that the in-place slice_scatter
  /// `scatter` overwrites (a part of the memory of its first input). The view has an additional first
  /// dimension, along which it starts at the index where the overwritten part begins.
  void put(const KernelOp& scatter, const Lying& l) {
    const int memory = scatter.inputs[0];
    const int dim = scatter.attributes.dim;
    const bool named = scatter.inputs.size() > 2;
    graph::Shape shape = g_.tensors[l.tensor].shape;
    graph::Strides strides = l.strides;
    const std::int64_t length = g_.tensors[scatter.inputs[1]].shape[dim];
    shape.insert(shape.begin(), named ? g_.tensors[memory].shape[dim] - length + 1 : 1);
    strides.insert(strides.begin(), program_.tensors[memory].strides[dim]);
    graph::Shape starts(shape.size(), 0);
    starts[0] = scatter.attributes.start;
    make_view(program_, l.tensor, memory, shape, strides, starts, scatter.outputs[0]);
    if (named) program_.views[l.tensor].number = scatter.inputs[2];
  }

  /// Returns whether tensor t is an input of the graph, or is computed before operator `op` in the execution order.
  bool comes_before(int t, int op) const {
    int by = producer(g_, t);
    while (by >= 0 && graph::is_view(g_.ops[by].kind)) by = producer(g_, g_.ops[by].inputs[0]);
    return by < 0 || place_[by] < place_[op];
  }

  /// Returns whether all operators that read tensor `old` or a view of it, except `scatter`, run before operator
  /// `producer`. Returns false if `producer` reads one of these tensors, or if one of them is an output.
  bool read_before(int old, int producer, int scatter) const {
    if (is_output(g_, old)) return false;
    std::set<int> seen{old};
    for (int i = 0; i < size(); ++i)
      if (graph::is_view(g_.ops[i].kind) && seen.count(g_.ops[i].inputs[0])) {
        seen.insert(g_.ops[i].outputs[0]);
        if (is_output(g_, g_.ops[i].outputs[0])) return false;
      }
    for (int i = 0; i < size(); ++i) {
      const KernelOp& op = g_.ops[i];
      if (i == scatter || graph::is_view(op.kind)) continue;
      const bool reads = std::ranges::any_of(op.inputs, [&](int t) { return seen.count(t) > 0; });
      if (reads && place_[i] >= place_[producer]) return false;
    }
    return true;
  }

  tile::TilePrograms& program_;
  const graph::KernelGraph& g_;
  std::vector<std::size_t> place_;  // by operator: its position in the execution order
  const target::Target& target_;
  std::set<int> done_;
};

}  // namespace

std::vector<WrittenAs> written_as(const graph::KernelGraph& g) {
  std::vector<WrittenAs> result;
  std::set<int> taken;
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    const int to = g.ops[i].outputs[0];
    if (!graph::is_whole_view(g.ops[i].kind) || !is_output(g, to) || g.tensors[to].memory >= 0) continue;
    const graph::KernelTensor& got = g.tensors[to];
    const ViewChain m = made(g, to, got.strides.empty() ? graph::row_major(got.shape) : got.strides);
    const auto& [tensor, strides] = m.first();
    if (tensor == to || m.producer < 0 || graph::is_view(g.ops[m.producer].kind) || is_output(g, tensor)) continue;
    const graph::KernelTensor& t = g.tensors[tensor];
    if (t.memory >= 0 || !(t.strides.empty() || t.strides == strides)) continue;
    if (taken.insert(tensor).second) result.push_back({tensor, strides, static_cast<int>(i)});
  }
  return result;
}

std::set<int> write_through(tile::TilePrograms& program, const graph::KernelGraph& g, const std::vector<int>& order,
                            const target::Target& target) {
  return WriteThrough(program, g, order, target).run();
}

}  // namespace zellige::lower
