// Launches benchmarked kernels: clusters, shared memory limits, programmatic dependent launch.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <exception>

namespace zellige::bench {

/// False: no kernel starts early, and evaluations run one after another.
inline bool overlapping = true;

/// early: PDL, the kernel may start before the previous one on the stream has ended; it waits
/// itself.
template <class... P, class... A>
int launch(void (*kernel)(P...), dim3 blocks, int threads, int shared_bytes, int cluster, bool early, void* stream,
           A... arguments) {
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  cudaLaunchAttribute attributes[2];
  auto& attribute = attributes[0];
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attributes;
  config.numAttrs = early && overlapping ? 2 : 1;
  error = cudaLaunchKernelEx(&config, kernel, P(arguments)...);
  return error == cudaSuccess ? cudaGetLastError() : error;
}
template <class... P, class... A>
int launch(void (*kernel)(P...), dim3 blocks, int threads, int shared_bytes, int cluster, void* stream,
           A... arguments) {
  return launch(kernel, blocks, threads, shared_bytes, cluster, false, stream, arguments...);
}

/// The status for a C caller: refusals are printed to stderr.
template <class F>
int guarded(F launch) {
  try {
    return launch();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return cudaErrorInvalidValue;
  }
}

}  // namespace zellige::bench

extern "C" __attribute__((used)) inline void zellige_overlap(int on) { zellige::bench::overlapping = on != 0; }
