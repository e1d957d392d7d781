// Derives the graph that a program computes when it omits intermediate roundings.
//
//   const KernelGraph e = left_out(g, stored);  // stored[t]: the program stores tensor t in its dtype
//   run(e, inputs)                               // the reference without the other intermediates' rounding
//
// Fused operators keep intermediates in float32. So tensors that are not stored become f32 here; integers,
// inputs and outputs keep their dtype, a view has the dtype of its operand, and operators are unchanged: a
// cast still rounds.
#pragma once
#include <vector>

#include "graph/graph.hpp"

namespace zellige::graph {

/// Returns a graph that is valid except for the dtypes of such tensors. `stored`: per tensor.
KernelGraph omit_roundings(const KernelGraph&, const std::vector<bool>& stored);

/// Returns whether two graphs with the same tensors round in the same way.
bool same_roundings(const KernelGraph&, const KernelGraph&);

}  // namespace zellige::graph
