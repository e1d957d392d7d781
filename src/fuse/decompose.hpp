// Decomposes custom operators: rewrites what a block graph computes as primitive operators of the kernel
// level.
//
//   std::optional<KernelGraph> unfused = decompose(graph);       // none: no custom operator can be
//
// A custom operator is retiled to one block and one iteration. That this retiling is valid
// (retile/relation.hpp) proves that its tiles are parts of whole tensors, so each block operator is the same
// operator on whole tensors. An accumulator of one iteration is the identity, or a sum over the last
// dimension; a mask needs no tile offset. What the graph stores keeps its name. An operator stays custom
// where the retiling is not proved, a running maximum is read in each iteration, accumulators hold integers,
// the last tile is partial, slices are stored, or an output is written into an input's memory.
//
// The primitive operators' tensors have the dtypes of the tiles, to which a block does not round;
// roundings.hpp checks which roundings the graph may have after it is fused again.
#pragma once
#include <optional>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// Returns the same function up to roundings; `graph` must be validated. Returns nullopt if no custom
/// operator can be decomposed.
std::optional<graph::KernelGraph> decompose(const graph::KernelGraph&);

}  // namespace zellige::fuse
