// Chooses strides for a tensor so that all views of it need no copy, if one of them is not a layout of its
// row-major memory or is an output.
//
//   heads (8, 2048, 128) -> permute -> (2048, 8, 128) -> reshape -> (2048, 1024)      heads in strides (128, 1024, 1)
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

/// Returns empty strides if the tensor already has strides, is an output, row-major memory suffices, or no
/// strides would do.
graph::Strides lay_out(const graph::KernelGraph&, int tensor);

}  // namespace zellige::fuse
