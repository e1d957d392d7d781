// A kernel graph without its names, as bytes: two graphs have equal ones where one is the other under other names.
//
//   structure(a) == structure(b)     // tensors and operators by their places, every attribute, the blocks too
//
// Of any graph, finished or not: nothing is validated. For keys of what is known of a graph; nobody reads it back.
#pragma once
#include <string>

#include "graph/graph.hpp"

namespace zellige::graph {

std::string structure(const KernelGraph&);

}  // namespace zellige::graph
