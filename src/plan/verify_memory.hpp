// Proves that no kernel reads a tensor after its memory has been overwritten in place: follows, in launch
// order, which tensor's value each memory holds, and compares it with the value that each load expects.
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

/// Throws Rejected with the kernel, the tensor and the value that is in its memory, or if a kernel writes
/// in place what it also reads.
void verify_memory(const Program&);

}  // namespace zellige::plan
