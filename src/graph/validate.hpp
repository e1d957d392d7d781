// Rejects invalid graphs. The message is one sentence: the graph, the operator, what was expected and what was found.
//
//   validate(g);   // throws Error, or g is valid: later passes rely on it
//
// In a valid graph, operators are in a topological order, and every shape, dtype and after_loop is as infer()
// infers it. Names are unique, inputs have strides, and outputs are computed by an operator.
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// Throws Error, which names the operator or tensor, unless the graph is valid.
void validate(const KernelGraph&);

}  // namespace zellige::graph
