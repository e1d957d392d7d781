// What a graph that was taken apart (apart.hpp) and fused may round: what the given one rounds.
//
//   if (const auto name = added_rounding(given, plain, fused)) ...    // `fused` would round this tensor, and `given` does not
//
// A block's values are float32 and unrounded, but a tensor of the kernel level is rounded to its dtype, and the plain operators' tensors
// have those of the tiles. Fused, most of them are not stored, and what is not stored is not rounded, but where the fuser says so by a
// cast: of what a group stores and reads on, and of a softmax's part (beside.hpp). So
//
// - what is stored between kernels must be a tensor of the given graph's kernel level in the same dtype, what products alone read, which
//   round it anyway, what a cast of the graph makes, or float32;
// - a cast inside a kernel must be one of these too; else it is taken out, and what reads it reads float32.
#pragma once
#include <optional>
#include <string>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// `fused` is made of `plain`, which is made of `given`. Takes out casts that nobody stated; the name of what would be rounded still.
std::optional<std::string> added_rounding(const graph::KernelGraph& given, const graph::KernelGraph& plain,
                                          graph::KernelGraph& fused);

}  // namespace zellige::fuse
