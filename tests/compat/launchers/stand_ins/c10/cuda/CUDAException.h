// Replaces torch's header of this name where a kernel of FlashAttention 2 is built without torch.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define C10_CUDA_CHECK(call)                                                               \
  do {                                                                                     \
    cudaError_t const error_ = (call);                                                     \
    if (error_ != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
