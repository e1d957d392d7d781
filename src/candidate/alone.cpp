#include "candidate/alone.hpp"

#include <map>
#include <utility>

#include "graph/error.hpp"
#include "graph/view.hpp"
#include "rewrite/indexed.hpp"
#include "rewrite/lay_out.hpp"

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
  for (int i : concatenations(g, k.ops)) {
    graph::KernelOp op = g.ops[i];
    for (int& t : op.inputs) {
      if (at.count(t) == 0) a.inputs.push_back(add(t, outside(g, t)));
      t = at[t];
    }
    const graph::KernelTensor& y = g.tensors[op.outputs[0]];
    op.outputs = {add(op.outputs[0], {y.dtype, y.shape, {}, y.name})};
    a.ops.push_back(std::move(op));
  }
  for (const LaunchPart& part : k.parts) {
    graph::KernelOp op{.kind = graph::OpKind::custom, .block = part.block};
    for (const auto& [t, shape] : part.loads) {
      if (at.count(t) == 0) {
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
