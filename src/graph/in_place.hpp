// Orders the operators of a graph whose results share an input's memory, such as a cache that a program
// writes into. As values they are ordinary results. But the old value of the memory must not be read once the
// new one is written.
//
//   for (int i : in_place_order(g)) ... g.ops[i]   // readers of an old value come before its replacement
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// Returns whether any result shares the memory of an input.
bool writes_in_place(const KernelGraph&);

/// Returns the indices of the operators in an order in which every reader of an old value precedes the
/// operator that overwrites it. Throws Error if a result cannot share the memory that it names, or if there
/// is no order.
std::vector<int> in_place_order(const KernelGraph&);

}  // namespace zellige::graph
