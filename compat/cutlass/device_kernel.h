// device_kernel<Operator>: the __global__ function that calls Operator{}(params, dynamic shared memory).
#pragma once
#if __has_include_next(<cutlass/device_kernel.h>)
#include_next <cutlass/device_kernel.h>
#else
#include <cutlass/cutlass.h>

#if defined(__CUDACC__)
namespace cutlass {

namespace detail {
/// Returns Operator::MinBlocksPerMultiprocessor, or 1 if the operator does not define it.
template <class Operator>
constexpr int min_blocks() {
  if constexpr (requires { Operator::MinBlocksPerMultiprocessor; })
    return int(Operator::MinBlocksPerMultiprocessor);
  else
    return 1;
}
}  // namespace detail

template <class Operator>
CUTLASS_GLOBAL __launch_bounds__(Operator::MaxThreadsPerBlock, detail::min_blocks<Operator>()) void device_kernel(
    CUTLASS_GRID_CONSTANT typename Operator::Params const params) {
  extern __shared__ __align__(1024) char device_kernel_memory[];  // aligned for TMA with the widest swizzle
  Operator{}(params, device_kernel_memory);
}

/// CUTLASS 2's kernel, whose operator takes its shared memory as an Operator::SharedStorage&.
template <class Operator>
CUTLASS_GLOBAL void Kernel(typename Operator::Params params) {
  extern __shared__ __align__(1024) int kernel_memory[];
  Operator{}(params, *reinterpret_cast<typename Operator::SharedStorage*>(kernel_memory));
}
/// CUTLASS 2's kernel for operators with a static function invoke(params, shared storage).
template <class Operator>
CUTLASS_GLOBAL void Kernel2(typename Operator::Params params) {
  extern __shared__ __align__(1024) int kernel_memory[];
  Operator::invoke(params, *reinterpret_cast<typename Operator::SharedStorage*>(kernel_memory));
}

}  // namespace cutlass
#endif
#endif
