// Proves that what a kernel says of its tensors in shared memory follows from the values that lie there: the dtype of the
// elements, the shape of the tile, its padding, and its parts and stages. verify_bounds() proves that the layout has a place for
// each of these elements.
#pragma once
#include "kernel/kernel.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Throws Rejected unless each tensor in shared memory has the dtype and shape of its value, and the padding that the
/// instructions read that multiply it; stages, if copies fill it in each iteration; partial results, if threads leave such.
void verify_buffers(const Kernel&, const target::Target&);

}  // namespace zellige::plan
