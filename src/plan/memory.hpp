// Assigns an offset in shared memory to every buffer of a kernel, and an offset in device memory to every
// intermediate tensor of a program, so that tensors with disjoint lifetimes share memory.
//
// In shared memory, time is counted in the schedule's block-wide barriers: tensors that are accessed
// between the same two barriers never overlap, whichever warps access them. A loop is one interval, its
// back edge included. In device memory, time is counted in kernel launches.
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::plan {

/// Sets the offset in shared memory of every tensor and of the mbarriers of every channel, and Kernel::shared_bytes to
/// the total size. Requires that the kernel has its agents. Returns false if the size exceeds the shared memory that the
/// target allows per block.
bool place_buffers(kernel::Kernel&, const target::Target&);

/// The workspace of a program. `offset` and `bytes` are indexed like Program::tensors; -1 is the offset of
/// a tensor that is not in the workspace: an argument of the caller, a view or an unused tensor. `total` is
/// the size of the workspace in bytes.
struct DevicePlacement {
  std::vector<std::int64_t> offset, bytes;
  std::int64_t total = 0;
};
/// Returns the placement of a program's intermediate tensors in the workspace, at offsets that are
/// multiples of 256 bytes. Tensors that are used in the same launch never overlap.
DevicePlacement place_tensors(const tile::TilePrograms&, const std::vector<kernel::Kernel>&);

}  // namespace zellige::plan
