// Orders the operators of a graph in which results share the memory of inputs, such as a cache that a program
// updates. Such a result overwrites the input's old value, so all operators that read the old value must run
// before the operator that computes the result.
//
//   for (int i : in_place_order(g)) ... g.ops[i]   // readers of an old value, then the operator that overwrites it
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// Returns whether any result of the graph shares the memory of an input.
bool writes_in_place(const KernelGraph&);

/// Returns the indices of the operators in an order in which every reader of an old value precedes the
/// operator that overwrites it. Throws Error if a result cannot share the memory of the input that it names,
/// or if there is no such order.
std::vector<int> in_place_order(const KernelGraph&);

}  // namespace zellige::graph
