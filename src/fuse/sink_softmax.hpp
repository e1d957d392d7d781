// Softmax with an attention sink: rewrites the softmax over a concatenation of scores and extra logits so
// that the concatenation is not needed.
//
//   softmax(concat(s, z)) -> slice of s      becomes      e^(s − m) / (Σ e^(s − m) + Σ e^(z − m)),  m = max(s, the lowest finite number)
//
// The slice must be exactly one operand of the concatenation. m is the maximum of that operand alone: if
// another operand is far greater, the sum overflows to infinity and the quotient is 0, which is the softmax
// to within rounding.
#pragma once
#include <optional>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// Returns nullopt if the graph has no such softmax.
std::optional<graph::KernelGraph> separate_softmax(const graph::KernelGraph&);

}  // namespace zellige::fuse
