// Rewrites a softmax with attention sinks: a softmax over the concatenation of scores s and extra logits z,
// of which only the scores' part is used. The result needs no concatenation.
//
//   softmax(concat(s, z)) -> slice of s      becomes      e^(s − m) / (Σ e^(s − m) + Σ e^(z − m)),
//                                                         m = max(max s, the lowest finite number)
//
// The slice must be exactly one operand of the concatenation. m is computed from that operand alone. If another operand
// is far greater, the sum overflows to infinity and the quotient is 0, which is the softmax to within rounding.
#pragma once
#include <optional>

#include "rewrite/graph_words.hpp"

namespace zellige::fuse {

/// Returns the graph in which each softmax over a concatenation, of which only one operand's part is used, is replaced
/// by operators that compute that part without the concatenation. Returns nullopt if there is no such softmax.
std::optional<KernelGraph> separate_softmax(const KernelGraph&);

}  // namespace zellige::fuse
