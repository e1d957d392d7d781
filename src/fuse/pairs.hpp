// Rewrites rotary embeddings of a matmul's columns so that the rotated pairs are a separate dimension.
//
//   t (m, h d) -> reshape (m, h, d) -> slice of heads -> rotary         becomes, of the same weights seen as (h, 2, K, d / 2),
//   t (h, 2, m, d / 2) -> permute -> rotary_interleaved -> slice, permute and reshape
//
// Both columns of a pair are then in the same block whatever part of d it has, so that the embedding can be
// fused into the matmul. The slice moves after the embedding, so that one operator rotates queries and keys,
// and blocks store the slices (Steps::slices).
#pragma once
#include <optional>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// Returns nullopt if no rotary embedding reads a matrix product this way.
std::optional<graph::KernelGraph> separate_pairs(const graph::KernelGraph&);

}  // namespace zellige::fuse
