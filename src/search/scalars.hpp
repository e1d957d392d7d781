// The scalars of a graph, and what one graph folded from those of another.
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

/// What only one of the two has, and float32 cannot hold: folded, perhaps, from scalars of the other.
std::set<double> of_one_alone(const graph::KernelGraph& a, const graph::KernelGraph& b);

/// How they may have been folded: x y, x / y or x + y, to 50 bits.
std::vector<Folded> folded(const graph::KernelGraph& a, const graph::KernelGraph& b);

}  // namespace zellige::search
