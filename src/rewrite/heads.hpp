// Normalises how a matmul's columns are viewed as attention heads: removes dimensions of extent 1 from the
// views between the matmul and its rotary embeddings. m is the number of rows, h of heads, h' of the heads in
// a slice, d of columns per head.
//
//   t (m, h d) -> reshape (m, 1, h, d) -> permute (m, h, 1, d) -> slice of heads -> rotary       becomes
//   t (m, h d) -> reshape (m, h, d) -> slice of heads -> rotary -> reshape (m, h', 1, d)
//
// separate_pairs (pairs.hpp) looks for rotary embeddings in the second form.
#pragma once
#include "rewrite/graph_words.hpp"

namespace zellige::fuse {

/// Returns the graph in which matmul columns that rotary embeddings read as attention heads are viewed as (rows, heads,
/// columns per head), without dimensions of extent 1. Returns the graph unchanged if there are no such dimensions.
KernelGraph heads_first(const KernelGraph&);

}  // namespace zellige::fuse
