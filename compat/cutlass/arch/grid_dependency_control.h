// Programmatic dependent launch: waits for the previous grids, lets the next one start. Effective if the
// launch enables it; before SM90 both do nothing.
#pragma once
#if __has_include_next(<cutlass/arch/grid_dependency_control.h>)
#include_next <cutlass/arch/grid_dependency_control.h>
#else
#include <cutlass/cutlass.h>

#if defined(__CUDACC__)
#include <zellige/atom/griddepcontrol.hpp>

namespace cutlass::arch {

CUTLASS_DEVICE void launch_dependent_grids() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  zellige::griddep_launch_dependents();
#endif
}
CUTLASS_DEVICE void wait_on_dependent_grids() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  zellige::griddep_wait();
#endif
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
static constexpr bool IsGdcGloballyEnabled = true;
#else
static constexpr bool IsGdcGloballyEnabled = false;
#endif

}  // namespace cutlass::arch
#endif
#endif
