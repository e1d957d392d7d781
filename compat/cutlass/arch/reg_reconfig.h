// Registers moved between warpgroups: the producer gives, the consumers take.
#pragma once
#if __has_include_next(<cutlass/arch/reg_reconfig.h>)
#include_next <cutlass/arch/reg_reconfig.h>
#else
#include <cutlass/cutlass.h>

#if defined(__CUDACC__)
#include <zellige/atom/setmaxnreg.hpp>

namespace cutlass::arch {

/// From then on each thread of the warpgroup has RegCount registers, more than before. Where the code is not
/// compiled for sm_90a both do nothing: registers are not to be moved there.
template <uint32_t RegCount>
CUTLASS_DEVICE void warpgroup_reg_alloc() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  zellige::register_alloc<RegCount>();
#endif
}
/// RegCount registers, fewer than before.
template <uint32_t RegCount>
CUTLASS_DEVICE void warpgroup_reg_dealloc() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  zellige::register_dealloc<RegCount>();
#endif
}

}  // namespace cutlass::arch
#endif
#endif
