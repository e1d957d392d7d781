// Inserts casts into the block graph of a custom operator after some of its operands or results have become
// f32 (partial results, see retile.hpp), so that the operator computes the same with the same roundings.
//
// Inside a block everything is computed in float32, whatever its dtype, so a cast to f32 changes nothing.
// Operands of a matmul, and values stored in a tensor of a narrower type, are cast back, because the graph
// rounded them there.
#pragma once
#include "graph/graph.hpp"

namespace zellige::retile {

/// Inserts casts into the block graph of the custom operator number `op`, some of whose operands or results have
/// become f32, so that it rounds as before. Requires that the graph's tensors have their new dtypes already, and
/// the tiles of the block graph their old ones.
void widen(graph::KernelGraph&, int op);

}  // namespace zellige::retile
