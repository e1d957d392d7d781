// Proof that no kernel reads memory whose value has been replaced in place: each kernel in launch order, what each tensor's memory
// holds by then, and what the kernel's loads expect there.
// Before: a lowered program. After: nothing is changed; throws Rejected with the kernel, the tensor and what lies there instead.
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

void verify_memory(const Program&);

}  // namespace zellige::plan
