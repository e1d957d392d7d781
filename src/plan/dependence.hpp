// Decides what a kernel may do while earlier kernels on the stream are running (programmatic dependent launch, PDL),
// and proves that its schedule keeps to these rules.
//
// A kernel that is launched early reads only constant inputs (which no earlier work on the stream writes) and writes
// nothing before its griddep_wait step (griddepcontrol.wait). The wait returns when the previous kernel has ended and
// its writes are visible. Only after the wait, or by ending, does a kernel let the next one start.
//
// Consequences: kernels end in order, because a kernel ends after its own wait, and the previous kernel ends before
// that. By induction, all earlier kernels have ended after the wait. A kernel may then read what any of them wrote and
// overwrite what any of them read, so that tensors may share memory as without PDL. At most two kernels run at a time.
#pragma once
#include <vector>

#include "kernel/kernel.hpp"
#include "selection/task.hpp"

namespace zellige::plan {

/// Returns whether a node loads a constant input. In a kernel that may start before the previous one ends
/// (Kernel::programmatic), such loads may precede griddepcontrol.wait.
bool reads_constant(const tile::Node&, const tile::TilePrograms&);

/// The loads of operands that are widened for products by wgmma (kernel/widened.hpp): of the bytes, which a producer copies, and of scales
/// and zero points, which threads read where they are.
struct WidenedLoads {
  std::vector<int> bytes, numbers;
};
/// Returns them. Notes which of the tasks that widen read constant numbers alone.
WidenedLoads widened_loads(const kernel::Kernel&, selection::Tasks&, const tile::TilePrograms&);

/// Adds griddepcontrol.launch_dependents after griddepcontrol.wait in the plan's schedule, if that pays: the program
/// is a single kernel that loads constant inputs, and the GPU can hold two of its grids at a time. Without the
/// instruction the next kernel starts as this one's blocks end. (If two grids do not fit, the next kernel's blocks
/// crowd the multiprocessors that are free first: up to 30% slower, docs/log.md.)
void let_next_start(kernel::Kernel&, const tile::TilePrograms&, const target::Target&);

/// Proves that a schedule accesses global memory only when programmatic dependent launch allows it. Throws Rejected,
/// with the step and the reason, if
///
/// - an agent (warp role) accesses global memory other than constant inputs before it has waited
///   (griddepcontrol.wait) or acquired a ring stage from a producer that has waited;
/// - a kernel that may start early has no wait, or launches dependents before the wait.
void verify_dependence(const kernel::Kernel&);

}  // namespace zellige::plan
