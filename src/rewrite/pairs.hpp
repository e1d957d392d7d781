// Rewrites rotary embeddings of a matmul's columns so that the two numbers of a rotated pair are in a
// dimension of their own. m is the number of rows, h of heads, d of columns per head, K the reduced extent:
//
//   t (m, h d) -> reshape (m, h, d) -> slice of heads -> rotary
//
// becomes, with the same weights viewed as (h, 2, K, d / 2):
//
//   t (h, 2, m, d / 2) -> permute -> rotary_interleaved -> slice, permute and reshape
//
// Both columns of a pair are then in the same block, whatever part of d the block has, so that the embedding
// can be fused into the matmul. The slice moves after the embedding, so that one operator can rotate queries
// and keys together. Each block of a fused kernel then stores its result to the output of the slice to which
// its heads belong (Steps::slices).
#pragma once
#include <optional>

#include "rewrite/graph_words.hpp"

namespace zellige::fuse {

/// Returns the graph in which the two numbers of a pair that a rotary embedding rotates are in a dimension of their
/// own: the weights of each matmul whose columns are heads that a rotary embedding reads are viewed as (h, 2, K, d /
/// 2), and the readers of the heads are rewritten accordingly. Returns nullopt if the graph has no such matmul.
std::optional<KernelGraph> separate_pairs(const KernelGraph&);

}  // namespace zellige::fuse
