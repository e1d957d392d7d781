// The graph with groups in place of their operators.
#pragma once
#include "fuse/choose.hpp"

namespace zellige::fuse {

struct Assembled {
  graph::KernelGraph graph;
  std::vector<int> first;  // by group: index of its first operator
};

/// Groups that hold every operator once, in an order in which each follows what it reads. Of kernels the first counts.
Assembled assemble(const graph::KernelGraph&, const std::vector<Group>&);

}  // namespace zellige::fuse
