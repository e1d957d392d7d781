// Dead-code elimination: removes operators whose results are unused, and tensors without a producer.
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

graph::KernelGraph live(graph::KernelGraph);

}  // namespace zellige::fuse
