// Computes strides of views: where each element of a view's result is in the memory of its operand.
//
//   // The transpose of a tensor of shape (2, 3) with strides (3, 1) has shape (3, 2): returns strides (1, 3).
//   viewed(OpKind::permute, {.sizes = {1, 0}}, {2, 3}, {3, 1}, {3, 2})
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// Returns whether the operator is permute, reshape, expand, slice or unfold.
bool is_view(OpKind);
/// Returns whether the operator is permute or reshape: a view that has each element of its operand once.
bool is_whole_view(OpKind);

/// Position of a view's result in its operand's memory. Element (i, j, ...) is at (i + starts[0]) steps[0] +
/// (j + starts[1]) steps[1] + ... A dimension of extent 1 may have any step.
struct Viewed {
  Strides steps;
  Shape starts;
};

/// Returns the strides and the offset of a view's result in the operand's memory. `starts`: the operand's own offset,
/// in elements per dimension (empty: 0). Returns nullopt if no strides express the result, because a reshape merges
/// dimensions that are not contiguous, because windows have padding, or because the offset is no multiple of a stride of the result.
std::optional<Viewed> viewed(OpKind, const Attributes&, const Shape& operand, const Strides&, const Shape& result,
                             const Shape& starts = {});

/// Returns the strides that the operand of a permute or reshape must have so that the result, a view of the
/// operand, has the given strides. Returns nullopt if no strides of the operand have this effect.
std::optional<Strides> operand_strides(const KernelOp&, const Shape& operand, const Shape& result, const Strides&);

}  // namespace zellige::graph
