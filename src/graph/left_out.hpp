// What a graph means where a program leaves roundings out.
//
//   const KernelGraph e = left_out(g, stored);   // stored[t]: the program stores tensor t as the graph states it
//   run(e, inputs)                               // the reference without the other intermediates' rounding
//
// Fused operators keep in float32 what lay between them. So the tensors that nobody stores are f32 here; what is integer, an input
// or an output keeps its dtype, a view has that of what it shows, and operators stay as they are: a cast rounds where it stands.
#pragma once
#include <vector>

#include "graph/graph.hpp"

namespace zellige::graph {

/// A valid graph but for the dtypes of such tensors. `stored`: by tensor.
KernelGraph left_out(const KernelGraph&, const std::vector<bool>& stored);

/// Whether two graphs of the same tensors round alike.
bool round_alike(const KernelGraph&, const KernelGraph&);

}  // namespace zellige::graph
