// Where views of a tensor come to one that is no layout of its row-major memory, or to one that the caller gets: the strides of which all
// of them are.
//
//   heads (8, 2048, 128) -> permute -> (2048, 8, 128) -> reshape -> (2048, 1024)      heads in strides (128, 1024, 1)
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

/// Empty where the tensor has strides, where the caller gets it, where its row-major memory will do, and where no strides would.
graph::Strides lay_out(const graph::KernelGraph&, int tensor);

}  // namespace zellige::fuse
