// CuTe's macros for log messages and CUDA error checks, and thread0() and similar.
#pragma once
#include <cute/config.hpp>
#include <zellige/tensor/debug.hpp>

#if !defined(__CUDACC_RTC__) && !defined(__CUDACC__) && !defined(ZELLIGE_EMULATE)
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#endif
#endif
#if !defined(__CUDACC_RTC__)
#include <cstdlib>  // exit
#endif

#if !defined(CUTE_LOG)
#if defined(__CUDA_ARCH__)
#define CUTE_LOG(format, ...)                                                                               \
  printf("[block (%d,%d,%d), thread (%d,%d,%d)]: " format, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, \
         threadIdx.y, threadIdx.z __VA_OPT__(, ) __VA_ARGS__)
#else
#define CUTE_LOG(format, ...) printf(format __VA_OPT__(, ) __VA_ARGS__)
#endif
#endif
#if !defined(CUTE_LOG_DEBUG)
#if defined(DEBUG)
#define CUTE_LOG_DEBUG(format, ...) CUTE_LOG(format __VA_OPT__(, ) __VA_ARGS__)
#else
#define CUTE_LOG_DEBUG(format, ...)
#endif
#endif
#if !defined(CUTE_ERROR_EXIT)
#define CUTE_ERROR_EXIT(e)                                                                              \
  do {                                                                                                  \
    cudaError_t cute_status = (e);                                                                      \
    if (cute_status != cudaSuccess) {                                                                   \
      fprintf(stderr, "%s:%d: %s gave %s: %s\n", __FILE__, __LINE__, #e, cudaGetErrorName(cute_status), \
              cudaGetErrorString(cute_status));                                                         \
      fflush(stderr);                                                                                   \
      exit(1);                                                                                          \
    }                                                                                                   \
  } while (0)
#endif
#if !defined(CUTE_CHECK_LAST)
#define CUTE_CHECK_LAST()                 \
  CUTE_ERROR_EXIT(cudaPeekAtLastError()); \
  CUTE_ERROR_EXIT(cudaDeviceSynchronize())
#endif
#if !defined(CUTE_CHECK_ERROR)
#define CUTE_CHECK_ERROR(e) CUTE_ERROR_EXIT(e)
#endif
