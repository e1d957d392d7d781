// Merges dimensions of a group of elementwise operators that are contiguous in memory in every operand and result, as
// PyTorch's TensorIterator does. Tiles of a group without broadcasts and gaps then depend on the number of elements, not
// on the shape:
//
//   gelu(x) * y, both (4768, 28144)                       ->  (1, 134190592)
//   x (8, 64, 100) + bias (100)                           ->  (1, 512, 100) + (100)
//   x (8, 64, 90) * y, a slice of rows of 100 elements    ->  (1, 512, 90)
//
// The kernel reads and writes its tensors through reshapes, which cost nothing.
#pragma once
#include "candidate/steps.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// Returns the steps of a group with such dimensions merged. The merged dimension takes the place of the
/// last one, and the others get extent 1. Returns the steps unchanged in these cases:
///
/// - some step is not elementwise, or results differ in their extents (other than 1);
/// - the group reads a concatenation, or a concatenation or slice_scatter reads a result. The planner may then read or
///   write their parts in place, which needs the dimensions as they are;
/// - results are stored slice by slice.
Steps coalesced(const KernelGraph&, Steps, const target::Target&);

}  // namespace zellige::fuse
