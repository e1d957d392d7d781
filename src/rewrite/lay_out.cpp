#include "rewrite/lay_out.hpp"

#include <algorithm>

#include "graph/view.hpp"
#include "rewrite/rewrite.hpp"

namespace zellige::rewrite {

Strides lay_out(const KernelGraph& g, int tensor) {
  if (!g.tensors[tensor].strides.empty() || is_output(g, tensor)) return {};
  std::vector<const KernelOp*> chain;
  Strides strides = graph::row_major(g.tensors[tensor].shape);
  for (int at = tensor; !strides.empty(); at = chain.back()->outputs[0]) {
    const auto view = std::ranges::find_if(
        g.ops, [&](const KernelOp& op) { return graph::is_whole_view(op.kind) && op.inputs[0] == at; });
    if (view == g.ops.end()) {
      if (chain.empty() || !is_output(g, at)) return {};  // all views are layouts of row-major memory
      break;
    }
    chain.push_back(&*view);
    const auto seen =
        graph::viewed(view->kind, view->attributes, g.tensors[at].shape, strides, g.tensors[view->outputs[0]].shape);
    strides = seen ? seen->steps : Strides{};
  }
  const KernelTensor& last = g.tensors[chain.back()->outputs[0]];
  strides = last.strides.empty() ? graph::row_major(last.shape) : last.strides;
  for (; !chain.empty(); chain.pop_back()) {
    const KernelOp& op = *chain.back();
    const auto seen =
        graph::operand_strides(op, g.tensors[op.inputs[0]].shape, g.tensors[op.outputs[0]].shape, strides);
    if (!seen) return {};
    strides = *seen;
  }
  const Shape& shape = g.tensors[tensor].shape;
  const Strides usual = graph::row_major(shape);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != usual[d]) return strides;
  return {};
}

Strides strides_of(const KernelGraph& g, int tensor, const std::function<Strides(int)>& memory) {
  const KernelTensor& t = g.tensors[tensor];
  if (!t.strides.empty()) return t.strides;
  for (const KernelOp& op : g.ops)
    if (op.outputs[0] == tensor && graph::is_view(op.kind)) {
      const auto seen = graph::viewed(op.kind, op.attributes, g.tensors[op.inputs[0]].shape,
                                      strides_of(g, op.inputs[0], memory), t.shape);
      return seen ? seen->steps : graph::row_major(t.shape);
    }
  return memory(tensor);
}

bool shows_windows(const KernelGraph& g, int tensor) {
  for (const KernelOp& op : g.ops)
    if (op.outputs[0] == tensor && graph::is_view(op.kind))
      return op.kind == OpKind::unfold || shows_windows(g, op.inputs[0]);
  return false;
}

}  // namespace zellige::rewrite
