// Memory: an address in shared memory for every buffer, and in device memory for every intermediate tensor.
//
// Time is counted in barriers: buffers that are alive between the same two barriers never overlap. The loop is one
// stretch of time, its back edge included. Before: pipeline. After: Buffer::offset, shared_bytes.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// False where the buffers need more than the target has; require_buffers then throws Error with both numbers.
bool place_buffers(KernelPlan&, const target::Target&);
void require_buffers(KernelPlan&, const target::Target&);

struct DevicePlacement {
  std::vector<std::int64_t> offset, bytes;
  std::int64_t total = 0;
};  // offset -1: a caller's tensor
DevicePlacement place_tensors(const Program&);

}  // namespace zellige::plan
