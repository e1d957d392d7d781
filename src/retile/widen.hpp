// A custom operator some of whose operands or results have become f32: casts where dtypes meet, so that it computes what it did.
//
// Everything between is float32 already, whatever its dtype says; a cast to f32 changes nothing. What a product reads, and what
// is stored in a narrower tensor, is cast back: that is where the graph rounded it.
#pragma once
#include "graph/graph.hpp"

namespace zellige::retile {

/// The dtypes of the graph's kernel-level tensors are as they shall be, those of the operator's tiles as they were.
void widen(graph::KernelGraph&, int op);

}  // namespace zellige::retile
