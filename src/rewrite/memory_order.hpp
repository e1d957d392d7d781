// Renumbers dimensions in memory order for operators on tensors that are stored in another order, such as
// channels-last convolutions. A row of memory is then a row of a tensor of the graph.
//
//   x (n, c, h, w) in strides (h w c, 1, w c, c)    relu(x)    ->    permute(relu(permute(x) (n, h, w, c)))
//
// The pass starts at inputs that are not stored in the order of their dimensions, and follows elementwise
// operators, reductions and concatenations. The two permutes are views without a copy.
#pragma once
#include "rewrite/graph_words.hpp"

namespace zellige::fuse {

/// Returns the graph in which operators on tensors that are stored in another order than that of their
/// dimensions have their dimensions renumbered in memory order, with permutes before and after them.
/// Returns the graph unchanged if every input is stored in the order of its dimensions.
KernelGraph in_memory_order(const KernelGraph&);

}  // namespace zellige::fuse
