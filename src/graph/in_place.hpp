// Results that take an input's memory: a cache that a program writes into. As values they are results like others; what must hold
// is that nobody wants the old value of that memory once the new one is there.
//
//   for (int i : in_place_order(g)) ... g.ops[i]   // readers of an old value before what replaces it, else as they stand
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// Whether any result takes an input's memory.
bool writes_in_place(const KernelGraph&);

/// Indices of the operators. Throws Error where a result cannot take the memory that it names.
std::vector<int> in_place_order(const KernelGraph&);

}  // namespace zellige::graph
