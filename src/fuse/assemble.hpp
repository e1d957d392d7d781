// Replaces the operators of a graph by the groups that were selected for them.
#pragma once
#include "fuse/choose.hpp"

namespace zellige::fuse {

struct Assembled {
  graph::KernelGraph graph;
  std::vector<int> first;  // by group: index of its first operator
};

/// `groups` must cover each operator exactly once and be in topological order. Only the first kernel of a
/// group is used.
Assembled assemble(const graph::KernelGraph&, const std::vector<Group>&);

}  // namespace zellige::fuse
