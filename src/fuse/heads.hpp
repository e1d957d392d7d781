// A product's columns as heads, however the graph's views spell it where one of its dimensions is 1.
//
//   t (m, h d) -> reshape (m, 1, h, d) -> permute (m, h, 1, d) -> slice of heads -> rotary       becomes
//   t (m, h d) -> reshape (m, h, d) -> slice of heads -> rotary -> reshape (m, h', 1, d)
//
// which is how `pairs_apart` looks for rotary embeddings.
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

/// The same graph where no product's columns are seen so.
graph::KernelGraph heads_first(const graph::KernelGraph&);

}  // namespace zellige::fuse
