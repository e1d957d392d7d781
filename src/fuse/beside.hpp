// A softmax of scores and of a few others beside them, as of attention's sinks, written out so that nothing stands side by side.
//
//   softmax(concat(s, z)) -> slice of s      becomes      e^(s − m) / (Σ e^(s − m) + Σ e^(z − m)),  m = max(s, the lowest finite number)
//
// What is sliced must be one whole operand of the concatenation. m is the maximum of that operand alone: where another is far greater the
// sum is infinite and the quotient 0, as it is to all digits of the softmax.
#pragma once
#include <optional>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// None where the graph has no such softmax.
std::optional<graph::KernelGraph> softmax_apart(const graph::KernelGraph&);

}  // namespace zellige::fuse
