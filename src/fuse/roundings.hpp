// Checks the roundings of a graph that was decomposed (decompose.hpp) and fused again: it may round only what
// the original graph rounds.
//
//   if (const auto name = added_rounding(given, unfused, fused)) ...    // `fused` rounds this tensor, `given` does not
//
// Values in a block are unrounded float32, but a tensor of the kernel level is rounded to its dtype, and the
// primitive operators' tensors have the dtypes of the tiles. After fusion most of them are not stored and
// hence not rounded, except where the fuser inserts a cast: for a tensor that a group both stores and reads,
// and for a part of a softmax (sink_softmax.hpp). So
//
// - a tensor stored between kernels must be a kernel-level tensor of the original graph in the same dtype, be
//   read only by matmuls (which round it anyway), be the result of a cast of the graph, or be float32;
// - a cast inside a kernel must be one of these too; otherwise it is removed, and its users read float32.
#pragma once
#include <optional>
#include <string>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// `fused` is made from `unfused`, and `unfused` from `given`. Removes casts that the original graph does not
/// have; returns the name of a tensor that would still be rounded.
std::optional<std::string> added_rounding(const graph::KernelGraph& given, const graph::KernelGraph& unfused,
                                          graph::KernelGraph& fused);

}  // namespace zellige::fuse
