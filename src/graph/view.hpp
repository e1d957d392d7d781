// Views: which element of its operand each element of a result is.
//
//   viewed(OpKind::permute, {.sizes = {1, 0}}, {2, 3}, {3, 1}, {3, 2})   // steps (1, 3) from 0: a transpose
#pragma once
#include <optional>

#include "graph/graph.hpp"

namespace zellige::graph {

bool is_view(OpKind);

/// Element (i, j, ...) of the result lies at i steps[0] + j steps[1] + ... of an operand of such strides; before that come
/// `starts`, in elements of each dimension. A dimension of 1 may have any step.
struct Viewed {
  Strides steps;
  Shape starts;
};

/// Of an operand that is itself seen from `starts` on (empty: from its first element). Empty where no steps say it: a reshape of
/// an operand whose dimensions do not lie in each other, or of a part that begins where no step of the result leads.
std::optional<Viewed> viewed(OpKind, const Attributes&, const Shape& operand, const Strides&,
                             const Shape& result, const Shape& starts = {});

/// The strides of the operand of a permute or reshape, so that its result lies in `strides`; empty where no strides do that.
std::optional<Strides> operand_strides(const KernelOp&, const Shape& operand, const Shape& result,
                                       const Strides&);

}  // namespace zellige::graph
