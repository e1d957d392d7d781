// Pairs the inputs and outputs of two graphs that are to be compared, and tells whether the two are the same but for names.
//
//   Pairing p = match(A, B);      // throws Error if the graphs cannot be compared
//
// Inputs are paired by name if both graphs have the same names, else by order; outputs by order.
#pragma once
#include "graph/graph.hpp"

namespace zellige::search {

using graph::KernelGraph;
using graph::OpKind;

/// Which inputs of two graphs A and B correspond.
struct Pairing {
  std::vector<int> inputs;  // A's input i is B's input inputs[i]
  bool by_name = false;
};

/// Two graphs that are compared.
struct GraphPair {
  const KernelGraph &a, &b;
  Pairing pairing;
};

/// Returns which inputs of the graphs correspond. Throws Error if numbers or shapes of inputs or outputs differ.
Pairing match(const KernelGraph& a, const KernelGraph& b);

/// Returns whether the graphs have the same operators on the same operands, up to names, order and duplicate computations. If so, they
/// are equal, whatever the operators mean; else they may be equal nevertheless.
bool same_structure(const GraphPair&);

}  // namespace zellige::search
