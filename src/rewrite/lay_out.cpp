#include "rewrite/lay_out.hpp"

#include <algorithm>

#include "graph/view.hpp"
#include "rewrite/rewrite.hpp"

namespace zellige::fuse {

graph::Strides lay_out(const graph::KernelGraph& g, int tensor) {
  if (!g.tensors[tensor].strides.empty() || is_output(g, tensor)) return {};
  std::vector<const graph::KernelOp*> chain;
  graph::Strides strides = graph::row_major(g.tensors[tensor].shape);
  for (int at = tensor; !strides.empty(); at = chain.back()->outputs[0]) {
    const auto view = std::ranges::find_if(g.ops, [&](const graph::KernelOp& op) {
      return (op.kind == graph::OpKind::permute || op.kind == graph::OpKind::reshape) && op.inputs[0] == at;
    });
    if (view == g.ops.end()) {
      if (chain.empty() || !is_output(g, at)) return {};  // all views are layouts of row-major memory
      break;
    }
    chain.push_back(&*view);
    const auto seen = graph::viewed(view->kind, view->attributes, g.tensors[at].shape, strides,
                                    g.tensors[view->outputs[0]].shape);
    strides = seen ? seen->steps : graph::Strides{};
  }
  const graph::KernelTensor& last = g.tensors[chain.back()->outputs[0]];
  strides = last.strides.empty() ? graph::row_major(last.shape) : last.strides;
  for (; !chain.empty(); chain.pop_back()) {
    const graph::KernelOp& op = *chain.back();
    const auto seen =
        graph::operand_strides(op, g.tensors[op.inputs[0]].shape, g.tensors[op.outputs[0]].shape, strides);
    if (!seen) return {};
    strides = *seen;
  }
  const graph::Shape& shape = g.tensors[tensor].shape;
  const graph::Strides usual = graph::row_major(shape);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != usual[d]) return strides;
  return {};
}

graph::Strides strides_of(const graph::KernelGraph& g, int tensor,
                          const std::function<graph::Strides(int)>& memory) {
  const graph::KernelTensor& t = g.tensors[tensor];
  if (!t.strides.empty()) return t.strides;
  for (const graph::KernelOp& op : g.ops)
    if (op.outputs[0] == tensor && graph::is_view(op.kind)) {
      const auto seen = graph::viewed(op.kind, op.attributes, g.tensors[op.inputs[0]].shape,
                                      strides_of(g, op.inputs[0], memory), t.shape);
      return seen ? seen->steps : graph::row_major(t.shape);
    }
  return memory(tensor);
}

}  // namespace zellige::fuse
