#include "reference/omit_roundings.hpp"

#include <algorithm>

#include "graph/view.hpp"

namespace zellige::graph {

KernelGraph omit_roundings(const KernelGraph& given, const std::vector<bool>& stored) {
  KernelGraph g = given;
  for (const KernelOp& op : g.ops)
    for (const int t : op.outputs) {
      KernelTensor& tensor = g.tensors[t];
      if (std::ranges::find(g.outputs, t) != g.outputs.end() || is_integer(tensor.dtype)) continue;
      if (is_view(op.kind))
        tensor.dtype = g.tensors[op.inputs[0]].dtype;
      else if (!stored[t])
        tensor.dtype = DType::f32;
    }
  return g;
}

bool same_roundings(const KernelGraph& a, const KernelGraph& b) {
  return std::ranges::equal(a.tensors, b.tensors, {}, &KernelTensor::dtype, &KernelTensor::dtype);
}

}  // namespace zellige::graph
