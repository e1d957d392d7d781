// Rotary embeddings of a product's columns, with the pairs along a dimension of their own.
//
//   t (m, h d) -> reshape (m, h, d) -> slice of heads -> rotary         becomes, of the same weights seen as (h, 2, K, d / 2),
//   t (h, 2, m, d / 2) -> permute -> rotary_interleaved -> slice, permute and reshape
//
// Both columns of a pair are then in whatever part of d a block has, so that the embedding may join the product's kernel; and what is
// sliced is sliced behind it, so that it is one operator for queries and keys, and blocks store the slices (Steps::slices).
#pragma once
#include <optional>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// None where no rotary embedding reads a product of two matrices so.
std::optional<graph::KernelGraph> pairs_apart(const graph::KernelGraph&);

}  // namespace zellige::fuse
