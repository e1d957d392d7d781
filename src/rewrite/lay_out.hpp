// Chooses the memory layout (strides) of an intermediate tensor so that the views of it need no copy. Strides
// other than row-major ones are chosen if, on a row-major tensor, one of the views would need a copy, or if
// the last view is an output of the graph.
//
//   heads (8, 2048, 128) -> permute -> (2048, 8, 128) -> reshape -> (2048, 1024)      heads gets strides (128, 1024, 1)
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

/// Returns strides for the tensor with which none of its views needs a copy. Returns empty strides in these
/// cases: row-major memory needs no copy either; the tensor has strides already or is an output; no strides
/// avoid the copy.
graph::Strides lay_out(const graph::KernelGraph&, int tensor);

}  // namespace zellige::fuse
