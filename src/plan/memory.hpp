// Assigns an offset in shared memory to every buffer, and one in device memory to every intermediate tensor.
//
// Time is counted in the schedule's block-wide barriers: tensors that are accessed between the same two of
// them never overlap, whichever agents access them. The loop is one interval, its back edge included.
// Before: agents. After: SharedTensor::offset, Buffer::offset, shared_bytes.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Returns false if the buffers, which are the schedule's tensors, need more than the target has.
bool place_buffers(KernelPlan&, const target::Target&);

struct DevicePlacement {
  std::vector<std::int64_t> offset, bytes;
  std::int64_t total = 0;
};  // offset -1: an argument
DevicePlacement place_tensors(const Program&);

}  // namespace zellige::plan
