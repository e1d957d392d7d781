#include "plan/write_through.hpp"

#include <algorithm>

#include "graph/view.hpp"
#include "plan/views.hpp"

namespace zellige::plan {
namespace {

using graph::KernelOp;

/// A tensor in the strides with which it lies in another.
struct Lying {
  int tensor = -1;
  Strides strides;
};

/// A tensor, and back through one view after the other what an operator makes.
struct Made {
  std::vector<Lying> way;
  std::vector<int> views;  // operators between them
  int maker = -1;
  const Lying& first() const { return way.back(); }
};

class WriteThrough {
 public:
  WriteThrough(Program& program, const graph::KernelGraph& g, const std::vector<int>& order,
               const target::Target& target)
      : program_(program), g_(g), place_(g.ops.size()), target_(target) {
    for (std::size_t i = 0; i < order.size(); ++i) place_[static_cast<std::size_t>(order[i])] = i;
  }

  std::set<int> run() {
    for (int i = 0; i < size(); ++i)
      if (is_moved(g_.ops[i]) && is_output(g_.ops[i].outputs[0])) as_the_caller_gets_it(i);
    for (int i = 0; i < size(); ++i)
      if (g_.ops[i].kind == OpKind::slice_scatter) into_memory(i);
    return std::move(done_);
  }

 private:
  int size() const { return static_cast<int>(g_.ops.size()); }
  bool is_output(int t) const { return std::ranges::count(g_.outputs, t) > 0; }
  static bool is_moved(const KernelOp& op) {
    return op.kind == OpKind::reshape || op.kind == OpKind::permute;
  }
  std::vector<int> readers(int t) const {
    std::vector<int> result;
    for (int i = 0; i < size(); ++i)
      if (std::ranges::count(g_.ops[i].inputs, t) > 0) result.push_back(i);
    return result;
  }
  int maker(int t) const {
    for (int i = 0; i < size(); ++i)
      if (std::ranges::count(g_.ops[i].outputs, t) > 0) return i;
    return -1;
  }

  /// From a tensor that lies in these strides.
  Made made(int tensor, Strides strides) const {
    Made m{{{tensor, std::move(strides)}}, {}, maker(tensor)};
    while (m.maker >= 0 && is_moved(g_.ops[m.maker])) {
      const KernelOp& view = g_.ops[m.maker];
      const int from = view.inputs[0];
      const Shape& shape = g_.tensors[from].shape;
      graph::Attributes back;
      back.sizes.resize(shape.size());
      for (std::size_t d = 0; view.kind == OpKind::permute && d < back.sizes.size(); ++d)
        back.sizes[static_cast<std::size_t>(view.attributes.sizes[d])] = static_cast<std::int64_t>(d);
      const auto seen =
          graph::viewed(view.kind, back, g_.tensors[m.first().tensor].shape, m.first().strides, shape);
      if (!seen) break;
      m.views.push_back(m.maker);
      m.way.push_back({from, seen->steps});
      m.maker = maker(from);
    }
    return m;
  }

  /// May what is made lie elsewhere?
  bool is_free(const Made& m) const {
    const int t = m.first().tensor;
    return m.maker >= 0 && g_.ops[m.maker].kind == OpKind::custom && !is_output(t) &&
           program_.views.count(t) == 0;
  }

  void as_the_caller_gets_it(int op) {
    const int to = g_.ops[op].outputs[0];
    const graph::KernelTensor& got = g_.tensors[to];
    const Made m = made(to, got.strides.empty() ? graph::row_major(got.shape) : got.strides);
    const auto& [tensor, strides] = m.first();
    const Strides& stated = g_.tensors[tensor].strides;
    if (tensor == to || !is_free(m) || !(stated.empty() || stated == strides)) return;
    const Shape& shape = g_.tensors[tensor].shape;
    settle_strides(program_, to, true, target_);
    make_view(program_, tensor, to, shape, strides, Shape(shape.size(), 0));
  }

  void into_memory(int op) {
    const KernelOp& scatter = g_.ops[op];
    const int y = scatter.outputs[0], old = scatter.inputs[0];
    if (g_.tensors[y].memory < 0 || g_.tensors[y].memory != old) return;
    const Strides strides = program_.tensors[old].strides;
    const Made m = made(scatter.inputs[1], strides);
    if (!is_free(m) || !is_alone(m) || !read_before(old, m.maker, op)) return;
    if (scatter.inputs.size() > 2 && !comes_before(scatter.inputs[2], m.maker)) return;
    make_view(program_, y, old, g_.tensors[old].shape, strides, program_.starts(old));
    program_.views[y].value = y;
    for (const Lying& l : m.way) put(scatter, l);
    done_.insert(op), done_.insert(m.views.begin(), m.views.end());
  }

  /// Is it seen on its way and nowhere else? Where it lies is then nobody else's matter.
  bool is_alone(const Made& m) const {
    return std::ranges::all_of(
        m.way, [&](const Lying& l) { return readers(l.tensor).size() == 1 && !is_output(l.tensor); });
  }

  /// A part of an input's memory, which begins where it does along a dimension of its own in front.
  void put(const KernelOp& scatter, const Lying& l) {
    const int memory = scatter.inputs[0];
    const auto dim = static_cast<std::size_t>(scatter.attributes.dim);
    const bool named = scatter.inputs.size() > 2;
    Shape shape = g_.tensors[l.tensor].shape;
    Strides strides = l.strides;
    const std::int64_t length = g_.tensors[scatter.inputs[1]].shape[dim];
    shape.insert(shape.begin(), named ? g_.tensors[memory].shape[dim] - length + 1 : 1);
    strides.insert(strides.begin(), program_.tensors[memory].strides[dim]);
    Shape starts(shape.size(), 0);
    starts[0] = scatter.attributes.start;
    make_view(program_, l.tensor, memory, shape, strides, starts);
    TensorView& view = program_.views[l.tensor];
    view.value = scatter.outputs[0];
    if (named) view.number = scatter.inputs[2];
  }

  /// Is a tensor there when an operator runs?
  bool comes_before(int t, int op) const {
    int by = maker(t);
    while (by >= 0 && graph::is_view(g_.ops[by].kind)) by = maker(g_.ops[by].inputs[0]);
    return by < 0 || place_[static_cast<std::size_t>(by)] < place_[static_cast<std::size_t>(op)];
  }

  /// Has all that reads the old value run when the maker does, which reads none of it?
  bool read_before(int old, int maker, int scatter) const {
    if (is_output(old)) return false;
    std::set<int> seen{old};
    for (int i = 0; i < size(); ++i)
      if (graph::is_view(g_.ops[i].kind) && seen.count(g_.ops[i].inputs[0])) {
        seen.insert(g_.ops[i].outputs[0]);
        if (is_output(g_.ops[i].outputs[0])) return false;
      }
    for (int i = 0; i < size(); ++i) {
      const KernelOp& op = g_.ops[i];
      if (i == scatter || graph::is_view(op.kind)) continue;
      const bool reads = std::ranges::any_of(op.inputs, [&](int t) { return seen.count(t) > 0; });
      if (reads && place_[static_cast<std::size_t>(i)] >= place_[static_cast<std::size_t>(maker)])
        return false;
    }
    return true;
  }

  Program& program_;
  const graph::KernelGraph& g_;
  std::vector<std::size_t> place_;  // by operator: when it runs
  const target::Target& target_;
  std::set<int> done_;
};

}  // namespace

std::set<int> write_through(Program& program, const graph::KernelGraph& g, const std::vector<int>& order,
                            const target::Target& target) {
  return WriteThrough(program, g, order, target).run();
}

}  // namespace zellige::plan
