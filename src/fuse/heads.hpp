// Normalises how a matmul's columns are viewed as heads if the view has extra dimensions of 1.
//
//   t (m, h d) -> reshape (m, 1, h, d) -> permute (m, h, 1, d) -> slice of heads -> rotary       becomes
//   t (m, h d) -> reshape (m, h, d) -> slice of heads -> rotary -> reshape (m, h', 1, d)
//
// `separate_pairs` looks for rotary embeddings in the latter form.
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

/// Returns the graph unchanged if no matmul's columns are viewed this way.
graph::KernelGraph heads_first(const graph::KernelGraph&);

}  // namespace zellige::fuse
