// Custom operators taken apart: what a block graph computes, written as plain operators of the kernel level.
//
//   std::optional<KernelGraph> plain = apart(graph);       // none: no custom operator can be
//   if (plain && !added_rounding(graph, *plain, optimize(*plain, target).graph)) ...
//
// A custom operator is retiled to one block and one iteration; that it can be (retile/relation.hpp) is the proof that its tiles are but
// parts of whole tensors, and then each of its operators is one on these. Accumulators of one iteration add nothing, or sum the last
// dimension; a mask need not be told where it lies. What the graph stores keeps its name. It stays a custom operator where that is not
// proved, where a running maximum is told after each iteration, where accumulators hold integers, and where tiles pass a tensor's end,
// slices are stored or the memory of an input is written.
//
// Rounding. A block's values are float32 and unrounded, but a tensor of the kernel level is rounded to its dtype, which the plain
// operators' tensors have from the tiles. So the graph that comes out may round more than the given one, and is no answer by itself.
// Fused, most of its tensors are not stored, and what is not stored is not rounded. What is stored must be rounded in the given graph,
// too: a tensor of its kernel level, what products alone read, or float32.
#pragma once
#include <optional>
#include <string>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// Of a validated graph: the same function, but for roundings.
std::optional<graph::KernelGraph> apart(const graph::KernelGraph&);

/// What `fused`, made of `plain`, made of `given`, stores and rounds where `given` does not: a tensor's name.
std::optional<std::string> added_rounding(const graph::KernelGraph& given, const graph::KernelGraph& plain,
                                          const graph::KernelGraph& fused);

}  // namespace zellige::fuse
