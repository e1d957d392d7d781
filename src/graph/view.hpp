// Views: maps each element of a view's result to an element of its operand.
//
//   viewed(OpKind::permute, {.sizes = {1, 0}}, {2, 3}, {3, 1}, {3, 2})   // steps (1, 3) from 0: a transpose
#pragma once
#include <optional>

#include "graph/graph.hpp"

namespace zellige::graph {

bool is_view(OpKind);

/// Element (i, j, ...) of the result is at i steps[0] + j steps[1] + ... of an operand with these strides,
/// plus `starts`, in elements per dimension. A dimension of 1 may have any step.
struct Viewed {
  Strides steps;
  Shape starts;
};

/// Composes a view with an operand that is itself seen from `starts` on (empty: from its first element).
/// Returns nothing if no steps express the result: a reshape of an operand whose dimensions are not nested,
/// or of a part that begins where no step of the result leads.
std::optional<Viewed> viewed(OpKind, const Attributes&, const Shape& operand, const Strides&,
                             const Shape& result, const Shape& starts = {});

/// The operand's strides under which the result of a permute or reshape has `strides`; nothing if there are
/// none.
std::optional<Strides> operand_strides(const KernelOp&, const Shape& operand, const Shape& result,
                                       const Strides&);

}  // namespace zellige::graph
