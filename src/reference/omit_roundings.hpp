// Derives the graph that a fused program computes. Fusion omits the roundings of intermediate tensors that
// are not stored in device memory.
//
//   const KernelGraph e = omit_roundings(g, stored);  // stored[t]: the program stores tensor t in its dtype
//   run(e, inputs)                                    // the reference, which rounds only stored tensors
//
// A fused kernel keeps intermediates in float32. So the dtype of tensors that are not stored becomes f32
// here; integers, inputs and outputs keep their dtype. A view has the dtype of its operand. Operators are
// unchanged, so a cast rounds as it does in the original graph.
#pragma once
#include "graph/graph.hpp"

namespace zellige::reference {

/// Returns the graph with dtype f32 for floating-point intermediates that are not stored. `stored`: per tensor, whether
/// the program stores it in its dtype. The result is for the reference only, because validate() may reject its dtypes.
graph::KernelGraph omit_roundings(const graph::KernelGraph&, const std::vector<bool>& stored);

/// Returns whether two graphs with the same tensors have the same dtypes, and so the same roundings.
bool same_roundings(const graph::KernelGraph&, const graph::KernelGraph&);

}  // namespace zellige::reference
