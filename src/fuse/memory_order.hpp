// Operators on tensors whose dimensions lie in another order than they are numbered, as those of convolutions in channels-last do, numbered
// as they lie: a row of the memory is then a row of the graph.
//
//   x (n, c, h, w) in strides (h w c, 1, w c, c)    relu(x)    ->    permute(relu(permute(x) (n, h, w, c)))
//
// From inputs whose strides say so, along what is computed element by element or reduced; the two permutes are views.
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

graph::KernelGraph in_memory_order(const graph::KernelGraph&);

}  // namespace zellige::fuse
