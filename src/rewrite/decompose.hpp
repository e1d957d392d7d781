// Decomposes custom operators: rewrites what a block graph computes as kernel-level operators, which can then
// be fused differently.
//
//   std::optional<KernelGraph> unfused = decompose(graph);       // nullopt: no custom operator can be decomposed
//
// A custom operator is first retiled to one block and one iteration; retile/relation.hpp proves that it still
// computes the same. Its tiles are then whole tensors, and each block operator can be written as the same
// kernel-level operator on these tensors. An accumulator of one iteration becomes the identity, or a sum over
// the last dimension, and a mask needs no tile offset. Tensors that the operator stores keep their names.
//
// A custom operator is kept in these cases:
//
// - the retiling is not proved;
// - a running maximum is read in each iteration;
// - accumulators hold integers;
// - the last tile is partial, or slices are stored;
// - an output is written into an input's memory.
//
// Each tile becomes a tensor of the tile's dtype. A block computes in float32 and does not round tiles to their dtypes,
// but kernel-level tensors are rounded when they are stored. After fusion, roundings.hpp checks that no rounding was
// added.
#pragma once
#include <optional>

#include "rewrite/graph_words.hpp"

namespace zellige::fuse {

/// Returns a graph that computes the same up to roundings, with every custom operator decomposed that can be.
/// Returns nullopt if none can be. `graph` must be validated.
std::optional<KernelGraph> decompose(const KernelGraph&);

}  // namespace zellige::fuse
