#include "graph/masked.hpp"

#include <algorithm>

namespace zellige::graph {
namespace {

/// Does a -inf among what it reads come out again?
bool keeps(OpKind kind) { return kind != OpKind::matmul && kind != OpKind::exp && kind != OpKind::sigmoid; }

template <class Op>
bool reads_masked(const Op& op, const std::vector<bool>& mask) {
  return std::ranges::any_of(op.inputs, [&](int t) { return mask[t]; });
}

}  // namespace

std::vector<bool> masked(const KernelGraph& g, const std::vector<bool>& inputs) {
  std::vector<bool> mask(g.tensors.size(), false);
  for (std::size_t i = 0; i < g.inputs.size(); ++i) mask[g.inputs[i]] = inputs[i];
  for (const KernelOp& op : g.ops) {
    if (op.kind != OpKind::custom) {
      for (int t : op.outputs) mask[t] = keeps(op.kind) && reads_masked(op, mask);
      continue;
    }
    std::vector<bool> in;
    for (int t : op.inputs) in.push_back(mask[t]);
    const std::vector<bool> tiles = masked(*op.block, in);
    for (const BlockOp& inner : op.block->ops)
      if (inner.kind == OpKind::output) mask[op.outputs[inner.kernel_tensor]] = tiles[inner.inputs[0]];
  }
  return mask;
}

std::vector<bool> masked(const BlockGraph& b, const std::vector<bool>& inputs) {
  std::vector<bool> mask(b.tensors.size(), false);
  for (const BlockOp& op : b.ops)
    for (int t : op.outputs)
      mask[t] =
          op.kind == OpKind::input ? inputs[op.kernel_tensor] : keeps(op.kind) && reads_masked(op, mask);
  return mask;
}

}  // namespace zellige::graph
