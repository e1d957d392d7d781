// Serializes a kernel graph without its names: two graphs give equal bytes if they differ in names only.
//
//   structure(a) == structure(b)  // tensors and operators by their places, every attribute, the blocks too
//
// Accepts any graph, finished or not; validates nothing. Used as a key for what is known of a graph; it is
// never parsed.
#pragma once
#include <string>

#include "graph/graph.hpp"

namespace zellige::graph {

std::string structure(const KernelGraph&);

}  // namespace zellige::graph
