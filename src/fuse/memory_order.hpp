// Renumbers dimensions in memory order for operators on tensors that are stored in another order, such as
// channels-last convolutions: a row of memory is then a row of the graph.
//
//   x (n, c, h, w) in strides (h w c, 1, w c, c)    relu(x)    ->    permute(relu(permute(x) (n, h, w, c)))
//
// Starts at inputs with such strides and follows elementwise operators and reductions; the two permutes are
// views.
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

graph::KernelGraph in_memory_order(const graph::KernelGraph&);

}  // namespace zellige::fuse
