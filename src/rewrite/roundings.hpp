// Checks that a graph which was decomposed (decompose.hpp) and fused again rounds only what the original
// graph rounds.
//
//   if (const auto name = added_rounding(given, unfused, fused)) ...    // `fused` rounds this tensor, `given` does not
//
// Values inside a block are float32 and not rounded, but a tensor of the kernel graph is rounded to its
// dtype. The tensors of the decomposed graph have the dtypes of the tiles. After fusion most of them are not
// stored, and hence not rounded. The fuser inserts a cast, however, for a tensor that a group both stores and
// reads, and for a part of a softmax (sink_softmax.hpp). So
//
// - a tensor that is stored between kernels must be float32, a tensor of the original graph in the same dtype,
//   the result of a cast of the graph, or read only by matmuls, which round it anyway;
// - a cast inside a kernel must satisfy the same condition; otherwise it is removed, and its readers use
//   float32.
#pragma once
#include <optional>
#include <string>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// Removes from `fused` the casts that `given` does not have. Returns the name of a tensor that `fused`
/// rounds and `given` does not, or nullopt if there is none. `unfused` must be the result of
/// decompose(given), and `fused` the result of fusing `unfused`.
std::optional<std::string> added_rounding(const graph::KernelGraph& given, const graph::KernelGraph& unfused,
                                          graph::KernelGraph& fused);

}  // namespace zellige::fuse
