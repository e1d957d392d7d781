// What a graph's outputs are made of: operators whose results nobody reads are left out, and tensors that nobody makes then.
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

graph::KernelGraph live(graph::KernelGraph);

}  // namespace zellige::fuse
