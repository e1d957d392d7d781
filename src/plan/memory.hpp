// Memory: an address in shared memory for every buffer, and in device memory for every intermediate tensor.
//
// Time is counted in the schedule's barriers of the whole block: tensors that are touched between the same two of them never
// overlap, whichever agents touch them. The loop is one stretch of time, its back edge included.
// Before: agents. After: SharedTensor::offset, Buffer::offset, shared_bytes.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// False where the buffers, which are the schedule's tensors, need more than the target has.
bool place_buffers(KernelPlan&, const target::Target&);

struct DevicePlacement {
  std::vector<std::int64_t> offset, bytes;
  std::int64_t total = 0;
};  // offset -1: a caller's tensor
DevicePlacement place_tensors(const Program&);

}  // namespace zellige::plan
