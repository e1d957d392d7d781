// Programmatic dependent launch: waits for the preceding grid, and lets the next one start. Takes effect if
// the launch enables it; does nothing before SM90.
#pragma once
#if __has_include_next(<cutlass/arch/grid_dependency_control.h>)
#include_next <cutlass/arch/grid_dependency_control.h>
#else
#include <cutlass/cutlass.h>

#if defined(__CUDACC__)
#include <zellige/atom/griddepcontrol.hpp>

namespace cutlass::arch {

/// Allows the next grid on the stream to start.
CUTLASS_DEVICE void launch_dependent_grids() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  zellige::griddep_launch_dependents();
#endif
}
/// Waits until the preceding grid has completed and its writes are visible.
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
