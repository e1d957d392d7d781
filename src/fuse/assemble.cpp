#include "fuse/assemble.hpp"

#include <map>
#include <set>

#include "candidate/steps.hpp"
#include "graph/infer.hpp"
#include "rewrite/indexed.hpp"
#include "rewrite/lay_out.hpp"

namespace zellige::fuse {
namespace {

/// Writes the fused graph, group by group.
class Assembly {
 public:
  explicit Assembly(const graph::KernelGraph& g) : g_(g), at_(g.tensors.size(), -1) {
    out_.name = g.name;
    for (const graph::KernelTensor& t : g.tensors) names_.insert(t.name);
    for (int t : g.inputs) out_.inputs.push_back(tensor(t));
  }

  /// Appends operator `op` of the input graph unchanged, unless it is a slice that a fused kernel stores itself.
  void add_unfused(int op) {
    graph::KernelOp copy = g_.ops[op];
    if (at_[copy.outputs[0]] >= 0) return;  // a slice that a kernel stores
    for (int& t : copy.inputs) t = made(t);
    for (int& t : copy.outputs) t = tensor(t);
    out_.ops.push_back(std::move(copy));
  }

  /// Appends the custom operators of a fused kernel, after the concatenations that the kernel reads. An operand or
  /// result whose shape differs in the kernel, which keeps reduced dimensions and merges contiguous ones, is reshaped
  /// before or after it.
  void fused(const candidate::GroupKernel& k) {
    for (int op : candidate::concatenations(g_, k.ops)) add_unfused(op);
    std::map<int, int> between;
    std::vector<graph::KernelOp> views;
    for (const candidate::LaunchPart& part : k.parts) {
      graph::KernelOp op{.kind = graph::OpKind::custom, .block = part.block};
      for (const auto& [t, shape] : part.loads)
        op.inputs.push_back(between.count(t) > 0 ? between[t] : seen_as(t, shape));
      for (const auto& [t, shape] : part.stores) {
        if (t >= static_cast<int>(g_.tensors.size())) {
          graph::KernelTensor inner = rewrite::checked(k.between, t - g_.tensors.size(), "partial result");
          inner.name = fresh(inner.name);
          op.outputs.push_back(between[t] = add(std::move(inner)));
          continue;
        }
        const graph::KernelTensor& whole = rewrite::checked(g_.tensors, t, "tensor");
        if (shape == whole.shape) {
          op.outputs.push_back(tensor(t));
          continue;
        }
        const int kept = add({whole.dtype, shape, {}, fresh(stored_name(whole.name))});
        op.outputs.push_back(kept);
        views.push_back(reshape(kept, tensor(t)));
      }
      out_.ops.push_back(std::move(op));
    }
    for (graph::KernelOp& v : views) out_.ops.push_back(std::move(v));
  }

  /// Returns the number of operators so far, which is the index of the next one.
  int next() const { return static_cast<int>(out_.ops.size()); }

  /// Finishes and returns the graph: infers shapes, and sets the strides of fused kernels' results so that
  /// views of these results need no copy.
  graph::KernelGraph take() {
    for (int t : g_.outputs) out_.outputs.push_back(made(t));
    out_ = graph::infer(std::move(out_));
    graph::KernelGraph given = out_;  // with the input graph's views only: reshapes of operands fit any layout
    std::erase_if(given.ops, [&](const graph::KernelOp& op) { return reshaped_.count(op.outputs[0]) > 0; });
    for (const graph::KernelOp& op : out_.ops)
      if (op.block)
        for (int t : op.outputs)
          if (graph::Strides strides = rewrite::lay_out(given, t); !strides.empty())
            out_.tensors[t].strides = std::move(strides);
    return std::move(out_);
  }

 private:
  /// Appends a tensor to the fused graph and returns its index.
  int add(graph::KernelTensor t) {
    out_.tensors.push_back(std::move(t));
    return static_cast<int>(out_.tensors.size()) - 1;
  }
  /// Appends a copy of the input graph's tensor `t` to the fused graph and returns its new index.
  int tensor(int t) {
    graph::KernelTensor copy = rewrite::checked(g_.tensors, t, "tensor");
    if (copy.memory >= 0) copy.memory = made(copy.memory);
    return at_[t] = add(std::move(copy));
  }
  /// Returns the fused graph's copy of the input graph's tensor `t`, which an operator has made by now.
  int made(int t) const {
    const int to = rewrite::checked(at_, t, "tensor");
    if (to < 0) fault("{}: {} is read before it is made", g_.name, g_.tensors[t].name);
    return to;
  }
  /// Returns the reshape of a tensor of the fused graph to another one.
  graph::KernelOp reshape(int from, int to) const {
    return {graph::OpKind::reshape, {from}, {to}, {.sizes = out_.tensors[to].shape}};
  }
  /// Returns the fused graph's copy of the input graph's tensor `t` in this shape, by a reshape if its own differs.
  int seen_as(int t, const graph::Shape& shape) {
    if (rewrite::checked(g_.tensors, t, "tensor").shape == shape) return made(t);
    const auto [seen, is_new] = seen_.insert({{t, shape}, -1});
    if (!is_new) return seen->second;
    const graph::KernelTensor& whole = g_.tensors[t];
    seen->second = add({whole.dtype, shape, {}, fresh(whole.name + "_flat")});
    reshaped_.insert(seen->second);
    out_.ops.push_back(reshape(made(t), seen->second));
    return seen->second;
  }
  /// Returns a tensor name that is not used yet: `name` with the necessary number of underscores appended.
  std::string fresh(std::string name) {
    while (!names_.insert(name).second) name += '_';
    return name;
  }

  const graph::KernelGraph& g_;
  graph::KernelGraph out_;
  std::vector<int> at_;  // by tensor of the input graph: its copy in out_; -1: none yet
  std::set<std::string> names_;
  std::map<std::pair<int, graph::Shape>, int> seen_;  // by tensor of the input graph and shape: its reshape in out_
  std::set<int> reshaped_;                            // the tensors of seen_
};

}  // namespace

constexpr std::string_view stored_suffix = "_kept";

std::string stored_name(std::string_view declared) { return std::string(declared).append(stored_suffix); }

std::string_view declared_name(std::string_view stored) {
  const std::size_t at = stored.rfind(stored_suffix);
  if (at == stored.npos || stored.find_first_not_of('_', at + stored_suffix.size()) != stored.npos) return "";
  return stored.substr(0, at);
}

Assembled assemble(const graph::KernelGraph& g, const std::vector<Group>& groups) {
  Assembly whole(g);
  Assembled result;
  for (const Group& group : groups) {
    result.first.push_back(whole.next());
    group.kernels.empty() ? whole.add_unfused(group.ops[0]) : whole.fused(group.kernels[0]);
  }
  result.graph = whole.take();
  return result;
}

}  // namespace zellige::fuse
