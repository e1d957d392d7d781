// Inserts casts into a custom operator some of whose operands or results have become f32, so that it computes
// the same.
//
// Everything inside is float32 already, whatever its dtype; a cast to f32 changes nothing. The operands of a
// matmul, and values stored in a narrower tensor, are cast back: the graph rounded them there.
#pragma once
#include "graph/graph.hpp"

namespace zellige::retile {

/// On entry the graph's kernel-level tensors have the new dtypes, and the operator's tiles the old ones.
void widen(graph::KernelGraph&, int op);

}  // namespace zellige::retile
