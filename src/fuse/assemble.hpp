// Builds the fused graph: replaces each selected group of operators by custom operators that compute the same
// (one per launch), and keeps the other operators.
#pragma once
#include <string_view>

#include "fuse/choose.hpp"

namespace zellige::fuse {

/// Returns the name of a result that a kernel stores in another shape than the graph's tensor of that name, which is a
/// reshape of it.
std::string stored_name(std::string_view);
/// Returns the name whose stored_name() this is, with underscores at its end where that was taken; "" if it is of none.
std::string_view declared_name(std::string_view stored);

/// A fused graph, and where each group's operators are in it.
struct Assembled {
  graph::KernelGraph graph;
  std::vector<int> first;  // by group: index in graph.ops of the first operator that computes it
};

/// Returns the graph in which the first kernel of each group replaces the group's operators. A group without
/// kernels is one unfused operator, which is kept. Requires that the groups cover each operator of the graph
/// exactly once and are in topological order.
Assembled assemble(const graph::KernelGraph&, const std::vector<Group>&);

}  // namespace zellige::fuse
