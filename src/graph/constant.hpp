// Declares inputs constant by name, as the command line does.
//
//   declare_constant(g, {"W"});  // no earlier work on the stream writes W: it is a weight
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// Throws Error if the graph has no input of that name.
void declare_constant(KernelGraph&, const std::vector<std::string>& names);

}  // namespace zellige::graph
