#include "rewrite/sink_softmax.hpp"

#include <algorithm>
#include <cfloat>

#include "rewrite/rewrite.hpp"

namespace zellige::fuse {
namespace {

/// Rewrites all softmaxes with attention sinks of a graph.
class SinkSoftmax {
 public:
  explicit SinkSoftmax(const KernelGraph& g) : g_(g), out_(g) {}

  std::optional<KernelGraph> run() {
    bool any = false;
    for (std::size_t i = 0; i < g_.ops.size(); ++i) {
      const int part = wanted(static_cast<int>(i));
      if (part < 0)
        out_.keep(g_.ops[i]);
      else
        any = true, write_out(g_.ops[i], part);
    }
    if (!any) return std::nullopt;
    return out_.finished();
  }

 private:
  const KernelOp* producer(int t) const { return fuse::producer(g_, t); }
  /// Returns the operator that produces tensor `t` if it is of this kind, `t` has one reader, and `t` is no
  /// output and has no prescribed strides. Otherwise returns nullptr.
  const KernelOp* inner(int t, OpKind kind) const {
    const KernelOp* op = producer(t);
    const bool own = op && op->kind == kind && !is_output(g_, t) && g_.tensors[t].strides.empty();
    return own && readers(g_, t).size() == 1 ? op : nullptr;
  }

  /// If operator `index` is a slice of a softmax over a concatenation and selects exactly one operand,
  /// returns the operand's index in the concatenation. Otherwise returns -1.
  int wanted(int index) const {
    const KernelOp& slice = g_.ops[index];
    if (slice.kind != OpKind::slice) return -1;
    if (!g_.tensors[slice.outputs[0]].strides.empty()) return -1;
    const KernelOp* softmax = inner(slice.inputs[0], OpKind::softmax);
    const KernelOp* concat = softmax ? inner(softmax->inputs[0], OpKind::concat) : nullptr;
    if (!concat) return -1;
    const int dim = concat->attributes.dim;
    if (softmax->attributes.dim != dim || slice.attributes.dim != dim) return -1;
    std::int64_t start = 0;
    for (std::size_t i = 0; i < concat->inputs.size(); ++i) {
      const std::int64_t end = start + g_.tensors[concat->inputs[i]].shape[dim];
      if (slice.attributes.start == start && slice.attributes.end == end) return static_cast<int>(i);
      start = end;
    }
    return -1;
  }

  /// Appends an operator and returns its result: tensor `to`, or a new float32 tensor called `name` if `to` is -1.
  int add(OpKind kind, std::vector<int> in, const Attributes& a, const std::string& name, int to = -1) {
    const int made = out_.add(kind, std::move(in), a, name, to);
    if (to < 0) out_.set_dtype(made, DType::f32);
    return made;
  }

  /// Writes operators that compute the result of `slice`: the part of the softmax that belongs to operand
  /// `part` of the concatenation.
  void write_out(const KernelOp& slice, int part) {
    const KernelOp& softmax = *producer(slice.inputs[0]);
    const KernelOp& concat = *producer(softmax.inputs[0]);
    const Attributes along{.dim = concat.attributes.dim, .keepdim = true};
    const std::string name = g_.tensors[softmax.outputs[0]].name;
    const DType dtype = g_.tensors[softmax.outputs[0]].dtype;
    const auto operand = [&](int i) {  // in float32, as the softmax computes
      const int t = concat.inputs[i];
      return dtype == DType::f32 ? t
                                 : add(OpKind::cast, {t}, {.dtype = DType::f32}, g_.tensors[t].name + "_f32");
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
    if (dtype == DType::f32)
      add(OpKind::div, {e, sum}, {}, {}, slice.outputs[0]);
    else
      add(OpKind::cast, {add(OpKind::div, {e, sum}, {}, name + "_f32")}, {.dtype = dtype}, {},
          slice.outputs[0]);
  }

  const KernelGraph& g_;
  Rewrite out_;
};

}  // namespace

std::optional<KernelGraph> separate_softmax(const KernelGraph& g) { return SinkSoftmax(g).run(); }

}  // namespace zellige::fuse
