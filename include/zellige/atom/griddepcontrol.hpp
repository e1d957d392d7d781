// Programmatic dependent launch: a kernel's blocks may start while the previous kernel still runs.
//
//   ... barriers, descriptors, weights that no kernel writes ...
//   griddep_wait();                  // the previous kernels have ended, their writes are visible
//   ...
//   griddep_launch_dependents();     // the next kernel may start
// Before SM90 both do nothing: a kernel starts when the previous one has ended.
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

ZELLIGE_CALL void griddep_wait() {
#if defined(ZELLIGE_EMULATE)
  emulate::griddep_wait();
#elif __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
ZELLIGE_CALL void griddep_launch_dependents() {
#if defined(ZELLIGE_EMULATE)
  emulate::griddep_launch_dependents();
#elif __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace zellige
