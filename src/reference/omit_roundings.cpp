#include "reference/omit_roundings.hpp"

#include <algorithm>

#include "graph/view.hpp"

namespace zellige::reference {

graph::KernelGraph omit_roundings(const graph::KernelGraph& given, const std::vector<bool>& stored) {
  graph::KernelGraph g = given;
  for (const graph::KernelOp& op : g.ops)
    for (const int t : op.outputs) {
      graph::KernelTensor& tensor = g.tensors[t];
      if (std::ranges::find(g.outputs, t) != g.outputs.end() || !graph::is_narrow(tensor.dtype)) continue;
      if (graph::is_view(op.kind))
        tensor.dtype = g.tensors[op.inputs[0]].dtype;
      else if (!stored[t])
        tensor.dtype = graph::DType::f32;
    }
  return g;
}

bool same_roundings(const graph::KernelGraph& a, const graph::KernelGraph& b) {
  return std::ranges::equal(a.tensors, b.tensors, {}, &graph::KernelTensor::dtype, &graph::KernelTensor::dtype);
}

}  // namespace zellige::reference
