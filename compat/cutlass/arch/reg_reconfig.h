// Changes the number of registers per thread of a warpgroup (setmaxnreg), to move registers from producers to
// consumers.
#pragma once
#if __has_include_next(<cutlass/arch/reg_reconfig.h>)
#include_next <cutlass/arch/reg_reconfig.h>
#else
#include <cutlass/cutlass.h>

#if defined(__CUDACC__)
#include <zellige/atom/setmaxnreg.hpp>

namespace cutlass::arch {

/// Raises each thread of the warpgroup to RegCount registers; waits until they are free. Does nothing unless
/// compiled for sm_90a.
template <uint32_t RegCount>
CUTLASS_DEVICE void warpgroup_reg_alloc() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  zellige::register_alloc<RegCount>();
#endif
}
/// Lowers each thread of the warpgroup to RegCount registers. Does nothing unless compiled for sm_90a.
template <uint32_t RegCount>
CUTLASS_DEVICE void warpgroup_reg_dealloc() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  zellige::register_dealloc<RegCount>();
#endif
}

}  // namespace cutlass::arch
#endif
#endif
