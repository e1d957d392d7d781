// Device selection and the error checks CUTE_CHECK_LAST and CUTE_CHECK_ERROR, as CuTe's tutorials use them.
#pragma once
#if __has_include_next(<cutlass/util/helper_cuda.hpp>)
#include_next <cutlass/util/helper_cuda.hpp>
#else
#include <cuda_runtime_api.h>
#include <cutlass/cutlass.h>

#include <cute/util/debug.hpp>

namespace zellige {

/// Selects a CUDA device and prints its name; exits on failure.
inline void device_init(int device, bool quiet = false) {
  cudaDeviceProp properties;
  CUTE_CHECK_ERROR(cudaSetDevice(device));
  CUTE_CHECK_ERROR(cudaGetDeviceProperties(&properties, device));
  if (!quiet)
    printf("device %d: %s (SM%d%d, %d SMs)\n", device, properties.name, properties.major, properties.minor,
           properties.multiProcessorCount);
}

}  // namespace zellige
#endif
