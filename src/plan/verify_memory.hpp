// Proves that no kernel reads memory whose value has been overwritten in place: tracks, in launch order, what
// each tensor's memory holds, and compares it with what each kernel's loads expect.
// Before: a lowered program. After: nothing is changed; throws Rejected with the kernel, the tensor and what
// is there instead.
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

void verify_memory(const Program&);

}  // namespace zellige::plan
