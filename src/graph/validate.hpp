// Refuses whatever is wrong with a graph, in one sentence that says which operator of which graph, what was
// expected and what was found.
//
//   validate(g);   // throws Error, or g is whole: every later pass may rely on it
//
// A valid graph has its operators in a topological order, every shape, dtype and after_loop as infer() finds
// them, names that are its own, inputs whose strides are stated, and outputs that an operator makes.
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

void validate(const KernelGraph&);

}  // namespace zellige::graph
