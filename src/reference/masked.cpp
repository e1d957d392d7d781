#include "reference/masked.hpp"

#include <algorithm>

#include "graph/elementwise.hpp"

namespace zellige::graph {
namespace {

/// Returns whether -inf in an operand of this operator may remain -inf in the result.
bool keeps(OpKind kind) {
  return is_elementwise(kind) ? elementwise(kind).law.lowest != Image::zero : kind != OpKind::matmul;
}

/// Returns which non-finite values masks may produce in an operator's results. `mask` has, per tensor, the
/// non-finite values that masks may produce in that tensor; only its entries for the operands are used.
template <class Op>
Mask result(const Op& op, const std::vector<Mask>& mask) {
  Mask maximum = Mask::none;
  for (int t : op.inputs) maximum = std::max(maximum, mask[t]);
  const bool adds = is_elementwise(op.kind) && takes_scalar(op.kind, op.inputs.size());
  const double fill = op.kind == OpKind::mask ? op.attributes.value : scalar_operand(op.attributes, DType::f32);
  if ((adds || op.kind == OpKind::mask) && fill == -infinity) maximum = Mask::infinity;
  if (op.kind == OpKind::matmul && op.inputs.size() > 2 && mask[op.inputs[2]] == Mask::infinity)
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

std::vector<Mask> masked(const KernelGraph& g, const std::vector<Mask>& inputs) {
  std::vector<Mask> mask(g.tensors.size(), Mask::none);
  for (std::size_t i = 0; i < g.inputs.size(); ++i) mask[g.inputs[i]] = inputs[i];
  for (const KernelOp& op : g.ops) {
    if (op.kind != OpKind::custom) {
      for (int t : op.outputs) mask[t] = result(op, mask);
      continue;
    }
    std::vector<Mask> in;
    for (int t : op.inputs) in.push_back(mask[t]);
    const std::vector<Mask> tiles = masked(*op.block, in);
    for (const BlockOp& inner : op.block->ops)
      if (inner.kind == OpKind::output) mask[op.outputs[inner.kernel_tensor]] = tiles[inner.inputs[0]];
  }
  return mask;
}

std::vector<Mask> masked(const BlockGraph& b, const std::vector<Mask>& inputs) {
  std::vector<Mask> mask(b.tensors.size(), Mask::none);
  for (const BlockOp& op : b.ops)
    for (int t : op.outputs) mask[t] = op.kind == OpKind::input ? inputs[op.kernel_tensor] : result(op, mask);
  return mask;
}

}  // namespace zellige::graph
