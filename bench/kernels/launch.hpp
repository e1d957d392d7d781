// What the launchers of the benched kernels share: TMA descriptors from the driver, clusters, shared memory limits.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <zellige/atom/tma_descriptor.hpp>

namespace zellige::bench {

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

inline Encode encode() {
  static const Encode function = [] {
    void* p = nullptr;
    cudaDriverEntryPointQueryResult result;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &p, 12000, cudaEnableDefault, &result);
    return reinterpret_cast<Encode>(p);
  }();
  return function;
}

/// Dimensions innermost first; strides in bytes, of the dimensions after the innermost.
inline TmaDescriptor descriptor(const void* data, CUtensorMapDataType type, std::initializer_list<cuuint64_t> dims,
                                std::initializer_list<cuuint64_t> strides, std::initializer_list<cuuint32_t> box,
                                CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B) {
  TmaDescriptor map;
  const cuuint32_t ones[5] = {1, 1, 1, 1, 1};
  const CUresult result = encode()(reinterpret_cast<CUtensorMap*>(&map), type, dims.size(), const_cast<void*>(data),
                                   dims.begin(), strides.begin(), box.begin(), ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::fprintf(stderr, "cuTensorMapEncodeTiled refuses the tensor: error %d\n", result);
  return map;
}

/// early: the kernel may begin before the one before it in the stream has ended; it waits by itself.
template <class... P, class... A>
int launch(void (*kernel)(P...), int blocks, int threads, int shared_bytes, int cluster, bool early, void* stream, A... arguments) {
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (error != cudaSuccess) return error;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  cudaLaunchAttribute attributes[2];
  auto& attribute = attributes[0];
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = early;
  config.attrs = attributes;
  config.numAttrs = early ? 2 : 1;
  error = cudaLaunchKernelEx(&config, kernel, P(arguments)...);
  return error == cudaSuccess ? cudaGetLastError() : error;
}
template <class... P, class... A>
int launch(void (*kernel)(P...), int blocks, int threads, int shared_bytes, int cluster, void* stream, A... arguments) {
  return launch(kernel, blocks, threads, shared_bytes, cluster, false, stream, arguments...);
}

}  // namespace zellige::bench
