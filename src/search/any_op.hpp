// Visits the operators of a graph, at the kernel level and inside custom operators.
#pragma once
#include "graph/elementwise.hpp"

namespace zellige::search {

/// Calls use(op, block) for each operator. `block` is the block graph that contains the operator, or null for a kernel-level operator.
template <class Use>
void each_op(const graph::KernelGraph& g, const Use& use) {
  for (const graph::KernelOp& op : g.ops) {
    use(op, static_cast<const graph::BlockGraph*>(nullptr));
    if (!op.block) continue;
    for (const graph::BlockOp& inner : op.block->ops) use(inner, static_cast<const graph::BlockGraph*>(op.block.get()));
  }
}
/// Returns whether holds(op, block) is true for some operator.
template <class Holds>
bool any_op(const graph::KernelGraph& g, const Holds& holds) {
  bool any = false;
  each_op(g, [&](const auto& op, const graph::BlockGraph* block) { any = any || holds(op, block); });
  return any;
}

/// Returns whether an operator of this kind with `operands` tensor operands has the attribute `scalar`.
inline bool has_scalar(graph::OpKind kind, std::size_t operands) {
  return kind == graph::OpKind::mul_scalar || graph::takes_scalar(kind, operands);
}

}  // namespace zellige::search
