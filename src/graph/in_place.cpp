#include <algorithm>
#include <set>

#include "graph/infer.hpp"
#include "graph/view.hpp"
#include "graph/where.hpp"

namespace zellige::graph {
namespace {

/// Orders the operators of a graph in which results overwrite the memory of inputs, so that no old value is
/// read after it is overwritten.
class OverwriteOrder {
 public:
  explicit OverwriteOrder(const KernelGraph& g) : g_(g), before_(g.ops.size()) {}

  std::vector<int> run() {
    std::vector<int> producer(g_.tensors.size(), -1);
    for (int i = 0; i < size(); ++i)
      for (int t : g_.ops[i].outputs) producer[t] = i;
    for (int i = 0; i < size(); ++i)
      for (int t : g_.ops[i].inputs)
        if (producer[t] >= 0) before_[i].insert(producer[t]);
    for (int t = 0; t < static_cast<int>(g_.tensors.size()); ++t)
      if (g_.tensors[t].memory >= 0) take(t, producer[t]);
    return sorted();
  }

 private:
  int size() const { return static_cast<int>(g_.ops.size()); }
  const std::string& name(int t) const { return g_.tensors[t].name; }

  /// Handles a tensor `y` that is to share the memory of a graph input (KernelTensor::memory): orders all operators
  /// that read the old value before `producer`, which computes `y`. Throws Error if `y` cannot share that memory.
  void take(int y, int producer) {
    const KernelTensor& t = g_.tensors[y];
    const Where top{g_.name};
    if (std::ranges::count(g_.inputs, t.memory) == 0)
      fail_at(top, "expected {} to take the memory of an input, found {}", t.name, name(t.memory));
    const Where where = producer < 0 ? top : top.at(producer, graph::name(g_.ops[producer].kind));
    if (producer < 0 || (g_.ops[producer].kind != OpKind::scatter && g_.ops[producer].kind != OpKind::slice_scatter))
      fail_at(where, "expected scatter or slice_scatter to make {}, which takes the memory of {}", t.name,
              name(t.memory));
    const KernelOp& op = g_.ops[producer];
    const int old = op.inputs[0];
    if (g_.tensors[t.memory].constant)
      fail_at(where, "expected {} to take the memory of an input that is not constant, found {}", t.name,
              name(t.memory));
    if (old != t.memory && g_.tensors[old].memory != t.memory)
      fail_at(where, "expected {}, which takes the memory of {}, to replace a part of it, found a part of {}", t.name,
              name(t.memory), name(old));
    if (!t.strides.empty() && t.strides != g_.tensors[t.memory].strides)
      fail_at(where, "expected {} to have the strides of {}, whose memory it takes, {}, found {}", t.name,
              name(t.memory), to_string(g_.tensors[t.memory].strides), to_string(t.strides));
    if (old != t.memory && std::ranges::count(g_.outputs, old))
      fail_at(where, "expected {} to be the only output in the memory of {}, found {} too", t.name, name(t.memory),
              name(old));
    std::set<int> seen{old};  // the old value and its views
    for (int i = 0; i < size(); ++i)
      if (is_view(g_.ops[i].kind) && seen.count(g_.ops[i].inputs[0])) seen.insert(g_.ops[i].outputs[0]);
    for (std::size_t k = 1; k < op.inputs.size(); ++k)
      if (seen.count(op.inputs[k]))
        fail_at(where, "expected {} to be made of memory that it does not take, found {}, which shows {}", t.name,
                name(op.inputs[k]), name(old));
    for (int i = 0; i < size(); ++i)
      if (i != producer && std::ranges::any_of(g_.ops[i].inputs, [&](int in) { return seen.count(in) > 0; }))
        before_[producer].insert(i);
  }

  /// Returns the operators in a topological order: repeatedly takes the first operator whose predecessors are done.
  std::vector<int> sorted() const {
    std::vector<int> order;
    std::vector<bool> done(before_.size(), false);
    const auto ready = [&](int i) {
      return !done[i] && std::ranges::all_of(before_[i], [&](int j) { return done[j]; });
    };
    while (static_cast<int>(order.size()) < size()) {
      int next = 0;
      while (next < size() && !ready(next)) ++next;
      if (next == size()) stuck(done);
      done[next] = true, order.push_back(next);
    }
    return order;
  }

  /// Throws the Error for operators that cannot be ordered. The message names an operator that reads a value
  /// after it is overwritten. `done`: the operators that could be ordered.
  [[noreturn]] void stuck(const std::vector<bool>& done) const {
    for (int i = 0; i < size(); ++i) {
      const KernelOp& op = g_.ops[i];
      if (done[i] || g_.tensors[op.outputs[0]].memory < 0) continue;
      for (int j : before_[i])
        if (!done[j])
          fail_at(Where{g_.name}.at(i, graph::name(op.kind)),
                  "expected all that reads {} to come before {} takes its memory, found operator {} ({}), "
                  "which cannot",
                  name(op.inputs[0]), name(op.outputs[0]), j, graph::name(g_.ops[j].kind));
    }
    fail_at({g_.name}, "expected operators that can be put in an order, found none");
  }

  const KernelGraph& g_;
  std::vector<std::set<int>> before_;  // per operator: its predecessors
};

}  // namespace

bool writes_in_place(const KernelGraph& g) {
  return std::ranges::any_of(g.tensors, [](const KernelTensor& t) { return t.memory >= 0; });
}

std::vector<int> in_place_order(const KernelGraph& g) { return OverwriteOrder(g).run(); }

}  // namespace zellige::graph
