#include "fuse/beside.hpp"

#include <algorithm>
#include <cfloat>
#include <set>

#include "fuse/live.hpp"
#include "graph/infer.hpp"

namespace zellige::fuse {
namespace {

using graph::Attributes;
using graph::KernelGraph;
using graph::KernelOp;
using graph::OpKind;

class Beside {
 public:
  explicit Beside(const KernelGraph& g) : g_(g), out_(g) {
    for (const graph::KernelTensor& t : g.tensors) names_.insert(t.name);
    out_.ops.clear();
  }

  std::optional<KernelGraph> run() {
    bool any = false;
    for (std::size_t i = 0; i < g_.ops.size(); ++i) {
      const int part = wanted(static_cast<int>(i));
      if (part < 0)
        out_.ops.push_back(g_.ops[i]);
      else
        any = true, write_out(g_.ops[i], part);
    }
    if (!any) return std::nullopt;
    return graph::infer(live(std::move(out_)));
  }

 private:
  const KernelOp* maker(int t) const {
    const auto op =
        std::ranges::find_if(g_.ops, [&](const KernelOp& o) { return std::ranges::count(o.outputs, t) > 0; });
    return op == g_.ops.end() ? nullptr : &*op;
  }
  std::vector<const KernelOp*> readers(int t) const {
    std::vector<const KernelOp*> found;
    for (const KernelOp& op : g_.ops)
      if (std::ranges::count(op.inputs, t) > 0) found.push_back(&op);
    return found;
  }
  bool is_output(int t) const { return std::ranges::count(g_.outputs, t) > 0; }

  /// Of a slice of such a softmax, which of the concatenation's operands it is; -1: it is no such slice.
  int wanted(int index) const {
    const KernelOp& slice = g_.ops[index];
    if (slice.kind != OpKind::slice) return -1;
    const KernelOp* softmax = maker(slice.inputs[0]);
    if (!softmax || softmax->kind != OpKind::softmax || is_output(softmax->outputs[0])) return -1;
    const KernelOp* concat = maker(softmax->inputs[0]);
    if (!concat || concat->kind != OpKind::concat || is_output(concat->outputs[0])) return -1;
    const int dim = concat->attributes.dim;
    if (softmax->attributes.dim != dim || slice.attributes.dim != dim) return -1;
    if (readers(softmax->outputs[0]).size() != 1 || readers(concat->outputs[0]).size() != 1) return -1;
    if (!g_.tensors[slice.outputs[0]].strides.empty() || !g_.tensors[softmax->outputs[0]].strides.empty())
      return -1;
    std::int64_t start = 0;
    for (std::size_t i = 0; i < concat->inputs.size(); ++i) {
      const std::int64_t end = start + g_.tensors[concat->inputs[i]].shape[dim];
      if (slice.attributes.start == start && slice.attributes.end == end) return static_cast<int>(i);
      start = end;
    }
    return -1;
  }

  int add(OpKind kind, std::vector<int> in, const Attributes& a, const std::string& name, int to = -1) {
    if (to < 0) {
      std::string fresh = name;
      while (!names_.insert(fresh).second) fresh += '_';
      to = static_cast<int>(out_.tensors.size());
      out_.tensors.push_back({graph::DType::f32, {}, {}, fresh});
    }
    out_.ops.push_back({kind, std::move(in), {to}, a, nullptr});
    return to;
  }

  void write_out(const KernelOp& slice, int part) {
    const KernelOp& softmax = *maker(slice.inputs[0]);
    const KernelOp& concat = *maker(softmax.inputs[0]);
    const Attributes along{.dim = concat.attributes.dim, .keepdim = true};
    const std::string name = g_.tensors[softmax.outputs[0]].name;
    const graph::DType dtype = g_.tensors[softmax.outputs[0]].dtype;
    const auto operand = [&](int i) {  // as the softmax computes: in float32
      const int t = concat.inputs[i];
      return dtype == graph::DType::f32
                 ? t
                 : add(OpKind::cast, {t}, {.dtype = graph::DType::f32}, g_.tensors[t].name + "_f32");
    };
    const int x = operand(part);
    int m = add(OpKind::amax, {x}, along, name + "_max");
    m = add(OpKind::maximum, {m}, {.scalar = -FLT_MAX}, name + "_off");
    const auto terms = [&](int of, const std::string& suffix) {
      return add(OpKind::exp, {add(OpKind::sub, {of, m}, {}, name + "_below" + suffix)}, {},
                 name + "_exp" + suffix);
    };
    const int e = terms(x, "");
    int sum = add(OpKind::sum, {e}, along, name + "_sum");
    for (std::size_t i = 0; i < concat.inputs.size(); ++i) {
      if (static_cast<int>(i) == part) continue;
      int other = terms(operand(static_cast<int>(i)), fmt::format("_{}", i));
      if (g_.tensors[concat.inputs[i]].shape[along.dim] > 1)
        other = add(OpKind::sum, {other}, along, name + fmt::format("_sum_{}", i));
      sum = add(OpKind::add, {sum, other}, {}, name + "_sums");
    }
    if (dtype == graph::DType::f32)
      add(OpKind::div, {e, sum}, {}, {}, slice.outputs[0]);
    else
      add(OpKind::cast, {add(OpKind::div, {e, sum}, {}, name + "_f32")}, {.dtype = dtype}, {},
          slice.outputs[0]);
  }

  const KernelGraph& g_;
  KernelGraph out_;
  std::set<std::string> names_;
};

}  // namespace

std::optional<KernelGraph> softmax_apart(const KernelGraph& g) { return Beside(g).run(); }

}  // namespace zellige::fuse
