// Checks that a graph which was decomposed (decompose.cpp) and fused again rounds only what the original graph rounds.
//
//   if (const auto name = added_rounding(given, unfused, fused)) ...    // `fused` rounds this tensor, `given` does not
//
// Values inside a block are float32 and not rounded, but a tensor of the kernel graph is rounded to its dtype.
// Decomposition turns each tile of a block graph into a tensor of the tile's dtype, which would round the tile if the
// tensor were stored. After fusion most of these tensors are inside a kernel, and hence neither stored nor rounded. The
// fuser inserts a cast, however, for a tensor that a group both stores and reads, and for a softmax of which only a
// part is used (rules_of_softmax.cpp). Therefore
//
// - a tensor that is stored between kernels must be float32, a tensor of the original graph in the same dtype,
//   the result of a cast of the original graph, or read only by matmuls, which round it anyway;
// - a cast inside a kernel must satisfy the same condition; added_rounding() replaces all other casts by casts to
//   float32, which change nothing.
#pragma once
#include <optional>
#include <string>

#include "rewrite/graph_words.hpp"

namespace zellige::rewrite {

/// Replaces casts in `fused` that round, but that `given` does not have, by casts to float32. Returns the name of a
/// tensor that `fused` rounds and `given` does not, or nullopt if there is none. `unfused` must be the result of
/// decompose(given), and `fused` the result of fusing `unfused`.
std::optional<std::string> added_rounding(const KernelGraph& given, const KernelGraph& unfused, KernelGraph& fused);

}  // namespace zellige::rewrite
