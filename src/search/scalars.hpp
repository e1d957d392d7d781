// Finds the scalar constants of two graphs, and constants that one graph has folded from constants of the
// other, for example 0.02 from 0.1 and 0.2. Graphs that differ only in such folding are equal (equal.hpp).
#pragma once
#include <set>
#include <vector>

#include "search/any_op.hpp"
#include "search/field_trials.hpp"

namespace zellige::search {

/// Returns the scalars of one operator: factors, summands and bounds.
template <class Op>
std::vector<double> scalars(const Op& op) {
  if (has_scalar(op.kind, op.inputs.size())) return {op.attributes.scalar};
  if (op.kind == graph::OpKind::clamp) return {op.attributes.lo, op.attributes.hi};
  return {};
}

/// Returns the scalars that only one of the two graphs has and that float32 cannot represent. These may have
/// been folded from scalars of the other graph.
std::set<double> of_one_alone(const graph::KernelGraph& a, const graph::KernelGraph& b);

/// Returns how scalars of of_one_alone(a, b) may have been folded from two other scalars x and y: as x y, x /
/// y or x + y, to 50 bits.
std::vector<Folded> folded(const graph::KernelGraph& a, const graph::KernelGraph& b);

}  // namespace zellige::search
