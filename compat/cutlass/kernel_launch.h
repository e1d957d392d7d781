// kernel_launch<Operator>(...): launches device_kernel<Operator> on a grid, with or without programmatic
// dependent launch.
#pragma once
#if __has_include_next(<cutlass/kernel_launch.h>)
#include_next <cutlass/kernel_launch.h>
#else
#include <cutlass/cutlass.h>
#include <cutlass/device_kernel.h>

#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#include <cuda_runtime_api.h>

#include <cstdio>

namespace cutlass {

/// Launches the kernel asynchronously on the stream. On failure prints the CUDA error and returns
/// kErrorInternal.
template <class Operator, class Params>
Status kernel_launch(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream, Params const& params,
                     bool launch_with_pdl = false) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = launch_with_pdl ? 1 : 0;
  typename Operator::Params const p = params;
  void* arguments[] = {const_cast<void*>(static_cast<void const*>(&p))};
  cudaError_t const e =
      cudaLaunchKernelExC(&config, reinterpret_cast<void const*>(&device_kernel<Operator>), arguments);
  if (e == cudaSuccess) return Status::kSuccess;
  std::fprintf(stderr, "kernel_launch: %s: %s\n", cudaGetErrorName(e), cudaGetErrorString(e));
  return Status::kErrorInternal;
}

}  // namespace cutlass
#endif
#endif
