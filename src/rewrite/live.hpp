// Eliminates dead code: removes operators whose results are unused, and tensors that are neither an input nor
// the result of an operator.
#pragma once
#include "rewrite/graph_words.hpp"

namespace zellige::rewrite {

/// Returns the graph without dead code; tensors and operators are renumbered.
KernelGraph live(KernelGraph);
/// Returns the graph with only the tensors `kept`, in this order. Throws Fault if another one is read or made.
KernelGraph with_tensors(KernelGraph, const std::vector<int>& kept);

}  // namespace zellige::rewrite
