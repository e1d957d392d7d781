// Graphs over ranks whose collectives are NCCL's.
#pragma once
#include "graph/graph.hpp"

namespace zellige::ranks {

/// Returns the graph with collectives of contiguous tensors alone, as NCCL has them: along dimension 0, of row-major operands,
/// with row-major results. Views before and after them do the rest. Tensors of the given graph keep their numbers and names.
graph::KernelGraph flat_collectives(const graph::KernelGraph&);

}  // namespace zellige::ranks
