// Restores the roundings of a custom operator after some of its operands or results have become f32 because they hold
// partial results (see retile.hpp): inserts casts to the original dtypes into its block graph.
//
// A block computes every value in float32, whatever the value's dtype. It rounds only in casts, at the operands of a
// matmul, and at stores. So the operands of a matmul are cast to the dtypes that they had before, and a stored value to
// the dtype of its tensor. A floating-point operand of another operator is cast to f32 if another operand is f32; that
// changes no value.
#pragma once
#include "graph/graph.hpp"

namespace zellige::retile {

/// Inserts casts into the block graph of the custom operator number `op`, some of whose operands or results have become
/// f32, so that it rounds the same values to the same dtypes as before. Requires that the graph's tensors have their
/// new dtypes already, and the tiles of the block graph their old ones.
void widen(graph::KernelGraph&, int op);

}  // namespace zellige::retile
