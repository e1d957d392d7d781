// Serializes a kernel graph without its names, as a key for caches: two graphs give equal bytes if they
// differ in names only.
//
//   structure(a) == structure(b)  // same tensors, operators, attributes and block graphs
//
// Any graph is accepted, even if it is incomplete or invalid. The bytes are never parsed.
#pragma once
#include <string>

#include "graph/graph.hpp"

namespace zellige::graph {

/// Returns the graph as a string of bytes. Strings are equal if and only if the graphs are, except for names.
std::string structure(const KernelGraph&);

}  // namespace zellige::graph
