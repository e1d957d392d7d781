// Builds the fused graph: replaces each selected group of operators by custom operators that compute the same
// (one per launch), and keeps the other operators.
#pragma once
#include "fuse/choose.hpp"

namespace zellige::fuse {

/// A fused graph, and where each group's operators are in it.
struct Assembled {
  KernelGraph graph;
  std::vector<int> first;  // by group: index in graph.ops of the first operator that computes it
};

/// Returns the graph in which the first kernel of each group replaces the group's operators. A group without
/// kernels is one unfused operator, which is kept. Requires that the groups cover each operator of the graph
/// exactly once and are in topological order.
Assembled assemble(const KernelGraph&, const std::vector<Group>&);

}  // namespace zellige::fuse
