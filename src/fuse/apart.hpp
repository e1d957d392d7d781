// Custom operators taken apart: what a block graph computes, written as plain operators of the kernel level.
//
//   std::optional<KernelGraph> plain = apart(graph);       // none: no custom operator can be
//
// A custom operator is retiled to one block and one iteration; that it can be (retile/relation.hpp) is the proof that its tiles are but
// parts of whole tensors, and then each of its operators is one on these. Accumulators of one iteration add nothing, or sum the last
// dimension; a mask need not be told where it lies. What the graph stores keeps its name. It stays a custom operator where that is not
// proved, where a running maximum is told after each iteration, where accumulators hold integers, and where tiles pass a tensor's end,
// slices are stored or the memory of an input is written.
//
// The plain operators' tensors have the dtypes of the tiles, which a block does not round to: what the graph that comes out may round
// once it is fused says roundings.hpp.
#pragma once
#include <optional>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// Of a validated graph: the same function, but for roundings.
std::optional<graph::KernelGraph> apart(const graph::KernelGraph&);

}  // namespace zellige::fuse
