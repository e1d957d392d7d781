// Eliminates dead code: removes operators whose results are unused, and tensors that are neither an input nor
// the result of an operator.
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

/// Returns the graph without dead code; tensors and operators are renumbered.
graph::KernelGraph live(graph::KernelGraph);

}  // namespace zellige::fuse
