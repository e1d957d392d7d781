// Tests whether a graph has an operator with a given property, at the kernel level or inside a custom operator.
#pragma once
#include "graph/elementwise.hpp"

namespace zellige::search {

/// Returns whether use(op, block) is true for some operator `op`. `block` is the block graph that contains
/// the operator, or null for a kernel-level operator.
template <class Use>
bool any_op(const graph::KernelGraph& g, const Use& use) {
  for (const graph::KernelOp& op : g.ops) {
    if (use(op, nullptr)) return true;
    if (!op.block) continue;
    for (const graph::BlockOp& inner : op.block->ops)
      if (use(inner, op.block.get())) return true;
  }
  return false;
}

/// Returns whether an operator of this kind with `operands` tensor operands has the attribute `scalar`.
inline bool has_scalar(graph::OpKind kind, std::size_t operands) {
  return kind == graph::OpKind::mul_scalar || graph::takes_scalar(kind, operands);
}

}  // namespace zellige::search
