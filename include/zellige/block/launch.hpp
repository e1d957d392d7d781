// launch: launches one kernel of a program with the attributes in its manifest. Host code, for nvcc; emitted
// host entries use it.
//
//   static thread_local TmaDescriptorAt map;   // encoded again only if its tensor has moved
//   launch(k1, {.grid = dim3(132), .block = dim3(384), .shared_bytes = 200704, .cluster = 2, .programmatic = true}, stream,
//          map({.name = "X", .extent = {k, m}, ...}, x), y);
//
// The caller raises the limit of dynamic shared memory: it is an attribute of a function on a device, not of
// a launch.
#pragma once
#include <cuda_runtime.h>

namespace zellige {

struct LaunchShape {
  dim3 grid, block;
  unsigned shared_bytes = 0;
  unsigned cluster = 1;       // cluster size along x
  bool programmatic = false;  // PDL: may start before the previous kernel ends, and waits with griddep_wait
};

template <class Kernel, class... Arguments>
cudaError_t launch(Kernel* kernel, const LaunchShape& shape, cudaStream_t stream,
                   const Arguments&... arguments) {
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
