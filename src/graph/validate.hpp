// Rejects an invalid graph, in one sentence that names the graph, the operator, what was expected and what
// was found.
//
//   validate(g);   // throws Error, or g is whole: every later pass may rely on it
//
// A valid graph has its operators in a topological order, every shape, dtype and after_loop as infer() finds
// them, unique names, inputs with explicit strides, and outputs that an operator makes.
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

void validate(const KernelGraph&);

}  // namespace zellige::graph
