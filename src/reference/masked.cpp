#include "reference/masked.hpp"

#include <algorithm>

#include "graph/elementwise.hpp"

namespace zellige::reference {
namespace {

/// Returns whether -inf in an operand of this operator may remain -inf in the result.
bool keeps(graph::OpKind kind) {
  return graph::is_elementwise(kind) ? graph::elementwise(kind).law.lowest != graph::Image::zero
                                     : kind != graph::OpKind::matmul;
}

/// Returns which non-finite values masks may produce in an operator's results. `mask` has, per tensor, the
/// non-finite values that masks may produce in that tensor; only its entries for the operands are used.
template <class Op>
Mask result(const Op& op, const std::vector<Mask>& mask) {
  Mask maximum = Mask::none;
  for (int t : op.inputs) maximum = std::max(maximum, mask[t]);
  const bool adds = graph::is_elementwise(op.kind) && graph::takes_scalar(op.kind, op.inputs.size());
  const double fill =
      op.kind == graph::OpKind::mask ? op.attributes.value : graph::scalar_operand(op.attributes, graph::DType::f32);
  if ((adds || op.kind == graph::OpKind::mask) && fill == -infinity) maximum = Mask::infinity;
  if (op.kind == graph::OpKind::matmul && op.inputs.size() > 2 && mask[op.inputs[2]] == Mask::infinity)
    return maximum;  // the bias is added, so its -inf remain
  return keeps(op.kind) ? maximum : std::min(maximum, Mask::nan);
}

}  // namespace

Mask mask_in(const Array& a) {
  Mask maximum = Mask::none;
  for (double v : a.values) {
    if (v == -infinity) return Mask::infinity;
    if (v != v) maximum = Mask::nan;
  }
  return maximum;
}

std::vector<Mask> masked(const graph::KernelGraph& g, const std::vector<Mask>& inputs) {
  std::vector<Mask> mask(g.tensors.size(), Mask::none);
  for (std::size_t i = 0; i < g.inputs.size(); ++i) mask[g.inputs[i]] = inputs[i];
  for (const graph::KernelOp& op : g.ops) {
    if (op.kind != graph::OpKind::custom) {
      for (int t : op.outputs) mask[t] = result(op, mask);
      continue;
    }
    std::vector<Mask> in;
    for (int t : op.inputs) in.push_back(mask[t]);
    const std::vector<Mask> tiles = masked(*op.block, in);
    for (const graph::BlockOp& inner : op.block->ops)
      if (inner.kind == graph::OpKind::output) mask[op.outputs[inner.kernel_tensor]] = tiles[inner.inputs[0]];
  }
  return mask;
}

std::vector<Mask> masked(const graph::BlockGraph& b, const std::vector<Mask>& inputs) {
  std::vector<Mask> mask(b.tensors.size(), Mask::none);
  for (const graph::BlockOp& op : b.ops)
    for (int t : op.outputs) mask[t] = op.kind == graph::OpKind::input ? inputs[op.kernel_tensor] : result(op, mask);
  return mask;
}

}  // namespace zellige::reference
