#include "candidate/alone.hpp"

#include <map>
#include <utility>

#include "graph/error.hpp"
#include "graph/view.hpp"
#include "rewrite/indexed.hpp"
#include "rewrite/lay_out.hpp"

namespace zellige::fuse {
namespace {

/// Returns the strides with which a tensor of shape `shape` and these strides is read or written in the shape `as`.
/// Requires that this needs no copy; strides may be empty, then returns empty ones.
Strides reshaped(const Strides& strides, const Shape& shape, const Shape& as) {
  if (strides.empty()) return {};
  const auto seen = graph::viewed(OpKind::reshape, {}, shape, strides, as);
  if (!seen) fault("a kernel reads or writes a tensor in a shape that needs a copy");
  return seen->steps;
}

}  // namespace

KernelTensor outside(const KernelGraph& g, int tensor) {
  const KernelTensor& t = checked(g.tensors, tensor, "tensor");
  const auto row_major = [&](int memory) { return graph::row_major(g.tensors[memory].shape); };
  return {t.dtype, t.shape, strides_of(g, tensor, row_major), t.name, -1, t.constant};
}

KernelGraph alone(const KernelGraph& g, const Kernel& k) {
  KernelGraph a;
  a.name = g.name;
  std::map<int, int> at;
  const auto add = [&](int t, KernelTensor tensor) {
    a.tensors.push_back(std::move(tensor));
    return at[t] = static_cast<int>(a.tensors.size()) - 1;
  };
  for (int i : concatenations(g, k.ops)) {
    KernelOp op = g.ops[i];
    for (int& t : op.inputs) {
      if (at.count(t) == 0) a.inputs.push_back(add(t, outside(g, t)));
      t = at[t];
    }
    const KernelTensor& y = g.tensors[op.outputs[0]];
    op.outputs = {add(op.outputs[0], {y.dtype, y.shape, {}, y.name})};
    a.ops.push_back(std::move(op));
  }
  for (const Part& part : k.parts) {
    KernelOp op{.kind = OpKind::custom, .block = part.block};
    for (std::size_t i = 0; i < part.loads.size(); ++i) {
      const int t = part.loads[i];
      if (at.count(t) == 0) {
        KernelTensor tensor = outside(g, t);
        tensor.strides = reshaped(tensor.strides, tensor.shape, part.loaded[i]);
        tensor.shape = part.loaded[i];
        a.inputs.push_back(add(t, std::move(tensor)));
      }
      op.inputs.push_back(at[t]);
    }
    for (std::size_t i = 0; i < part.stores.size(); ++i) {
      const int t = part.stores[i];
      const bool inner = t >= static_cast<int>(g.tensors.size());
      const KernelTensor& whole =
          inner ? checked(k.between, t - g.tensors.size(), "partial result") : checked(g.tensors, t, "tensor");
      const bool in_full = !inner && graph::size(part.stored[i]) == graph::size(whole.shape);
      const Strides strides = in_full ? reshaped(lay_out(g, t), whole.shape, part.stored[i]) : Strides{};
      op.outputs.push_back(add(t, {whole.dtype, part.stored[i], strides, whole.name}));
      if (!inner) a.outputs.push_back(op.outputs.back());
    }
    a.ops.push_back(std::move(op));
  }
  return a;
}

}  // namespace zellige::fuse
