// Results that take an input's memory, such as a cache that a program writes into. As values they are
// ordinary results; the order of operators must ensure that the old value of that memory is not read once the
// new one is written.
//
//   for (int i : in_place_order(g)) ... g.ops[i]   // readers of an old value come before its replacement
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// Returns whether any result takes an input's memory.
bool writes_in_place(const KernelGraph&);

/// Returns indices of the operators. Throws Error if a result cannot take the memory that it names.
std::vector<int> in_place_order(const KernelGraph&);

}  // namespace zellige::graph
