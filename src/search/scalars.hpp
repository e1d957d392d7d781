// Finds the scalars of a graph, and those that one graph folded from those of the other.
#pragma once
#include <set>
#include <vector>

#include "search/any_op.hpp"
#include "search/field_trials.hpp"

namespace zellige::search {

/// The scalars of one operator: factors, summands and bounds.
template <class Op>
std::vector<double> scalars(const Op& op) {
  if (has_scalar(op.kind, op.inputs.size())) return {op.attributes.scalar};
  if (op.kind == graph::OpKind::clamp) return {op.attributes.lo, op.attributes.hi};
  return {};
}

/// Scalars that only one of the two graphs has and float32 cannot represent: possibly folded from scalars of
/// the other.
std::set<double> of_one_alone(const graph::KernelGraph& a, const graph::KernelGraph& b);

/// The ways in which they may have been folded: x y, x / y or x + y, to 50 bits.
std::vector<Folded> folded(const graph::KernelGraph& a, const graph::KernelGraph& b);

}  // namespace zellige::search
