// Marks graph inputs as constant by name, for the option --constant and its equivalent in the C API. No earlier
// work on the stream writes a constant input, so a kernel may read it before the preceding kernel has ended.
//
//   declare_constant(g, {"W"});  // W is a weight
#pragma once
#include "graph/graph.hpp"

namespace zellige::run {

/// Marks the inputs with these names as constant. Throws Error if a name is not that of an input of the graph.
void declare_constant(graph::KernelGraph&, const std::vector<std::string>& names);

}  // namespace zellige::run
