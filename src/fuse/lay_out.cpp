#include "fuse/lay_out.hpp"

#include <algorithm>

#include "fuse/rewrite.hpp"
#include "graph/view.hpp"

namespace zellige::fuse {

graph::Strides lay_out(const graph::KernelGraph& g, int tensor) {
  if (!g.tensors[tensor].strides.empty() || is_output(g, tensor)) return {};
  std::vector<const graph::KernelOp*> chain;
  graph::Strides strides = graph::row_major(g.tensors[tensor].shape);
  for (int at = tensor; !strides.empty(); at = chain.back()->outputs[0]) {
    const auto view = std::ranges::find_if(g.ops, [&](const graph::KernelOp& op) {
      return (op.kind == graph::OpKind::permute || op.kind == graph::OpKind::reshape) && op.inputs[0] == at;
    });
    if (view == g.ops.end()) return {};  // all of them are layouts
    chain.push_back(&*view);
    const auto seen = graph::viewed(view->kind, view->attributes, g.tensors[at].shape, strides,
                                    g.tensors[view->outputs[0]].shape);
    strides = seen ? seen->steps : graph::Strides{};
  }
  strides = graph::row_major(g.tensors[chain.back()->outputs[0]].shape);
  for (; !chain.empty(); chain.pop_back()) {
    const graph::KernelOp& op = *chain.back();
    graph::Attributes back;
    back.sizes.resize(op.attributes.sizes.size());
    for (std::size_t d = 0; op.kind == graph::OpKind::permute && d < back.sizes.size(); ++d)
      back.sizes[op.attributes.sizes[d]] = static_cast<std::int64_t>(d);
    const auto seen =
        graph::viewed(op.kind, back, g.tensors[op.outputs[0]].shape, strides, g.tensors[op.inputs[0]].shape);
    if (!seen) return {};
    strides = seen->steps;
  }
  return strides;
}

}  // namespace zellige::fuse
