// Pairs the inputs and outputs of two graphs.
//
//   Pairing p = match(A, B);      // throws Error where the two cannot be compared
//
// Inputs are paired by name if both graphs have the same names, else by order; outputs by order.
#pragma once
#include <vector>

#include "graph/graph.hpp"

namespace zellige::search {

struct Pairing {
  std::vector<int> inputs;  // A's input i is B's input inputs[i]
  bool by_name = false;
};

Pairing match(const graph::KernelGraph& a, const graph::KernelGraph& b);

}  // namespace zellige::search
