// Proves that no kernel reads a tensor after the tensor's memory has been overwritten in place. Follows, in
// launch order, which tensor's value each allocation of device memory contains, and compares that tensor with
// the one that each load expects.
#pragma once
#include "tile/program.hpp"

namespace zellige::verify {

/// Throws Rejected if a kernel loads a tensor while the tensor's memory contains another tensor's value, or if a
/// kernel both reads a tensor and overwrites it in place. The message has the kernel and the tensor.
void verify_memory(const tile::TilePrograms&);

}  // namespace zellige::verify
