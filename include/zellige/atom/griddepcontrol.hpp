// Programmatic dependent launch: lets a kernel's blocks start while the preceding kernel on the stream still
// runs.
//
//   ... barriers, descriptors, weights that no kernel writes ...
//   griddep_wait();                  // the previous kernels have ended, their writes are visible
//   ...
//   griddep_launch_dependents();     // the next kernel may start
//
// Before SM90 both functions do nothing: a kernel starts when the preceding one has ended.
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Waits until the preceding kernels on the stream have ended and their writes to global memory are visible.
ZELLIGE_CALL void griddep_wait() {
#if defined(ZELLIGE_EMULATE)
  emulate::griddep_wait();
#elif __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Signals that the next kernel on the stream may start. The next kernel starts once every block of this kernel has
/// called this function or exited. This kernel's writes are visible to the next kernel only after griddep_wait() in
/// that kernel.
ZELLIGE_CALL void griddep_launch_dependents() {
#if defined(ZELLIGE_EMULATE)
  emulate::griddep_launch_dependents();
#elif __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace zellige
