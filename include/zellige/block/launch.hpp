// Launches a kernel, optionally with clusters and programmatic dependent launch (PDL). Host code, compiled by nvcc;
// it is called by the host functions that Zellige generates.
//
//   static thread_local TmaDescriptorAt map;   // caches a TMA descriptor, encodes it again if the tensor x has moved
//   launch(k1, {.grid = dim3(132), .block = dim3(384), .shared_bytes = 200704, .cluster = 2, .programmatic = true}, stream,
//          map({.name = "X", .extent = {k, m}, ...}, x), y);
//
// If a kernel needs more than 48 KB of shared memory, the caller must set cudaFuncAttributeMaxDynamicSharedMemorySize
// once per device: this is an attribute of the function, not of a launch.
#pragma once
#include <cuda_runtime.h>

namespace zellige {

/// The launch configuration of a kernel; `shared_bytes` is its dynamic shared memory.
struct LaunchShape {
  dim3 grid, block;
  unsigned shared_bytes = 0;
  unsigned cluster = 1;       // cluster size along x
  bool programmatic = false;  // PDL: may start before the previous kernel ends, and waits with griddep_wait
};

/// Launches `kernel` on `stream`. Returns the result of cudaLaunchKernelEx: cudaSuccess, or the error.
template <class Kernel, class... Arguments>
cudaError_t launch(Kernel* kernel, const LaunchShape& shape, cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid, config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes, config.stream = stream;
  config.attrs = attributes;
  if (shape.cluster > 1) {
    cudaLaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = shape.cluster, cluster.val.clusterDim.y = 1, cluster.val.clusterDim.z = 1;
  }
  if (shape.programmatic) {
    cudaLaunchAttribute& early = attributes[config.numAttrs++];
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
  }
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace zellige
