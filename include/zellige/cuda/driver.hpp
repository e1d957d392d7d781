// CUDA's driver API as far as programs of the runtime need it: tensor maps, and the look-up of the functions that make them.
#pragma once
#include <dlfcn.h>

#include <string_view>

#include "zellige/cuda/runtime.hpp"

enum CUresult : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_SUPPORTED = 801
};
using cuuint32_t = unsigned;
using cuuint64_t = unsigned long;
using CUdevice = int;
using CUstream = cudaStream_t;
using CUdeviceptr = unsigned long long;

/// A tensor map, which only cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col write.
struct alignas(64) CUtensorMap {
  cuuint64_t opaque[16];
};
enum CUtensorMapDataType {
  CU_TENSOR_MAP_DATA_TYPE_UINT8,
  CU_TENSOR_MAP_DATA_TYPE_UINT16,
  CU_TENSOR_MAP_DATA_TYPE_UINT32,
  CU_TENSOR_MAP_DATA_TYPE_INT32,
  CU_TENSOR_MAP_DATA_TYPE_UINT64,
  CU_TENSOR_MAP_DATA_TYPE_INT64,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ
};
enum CUtensorMapInterleave {
  CU_TENSOR_MAP_INTERLEAVE_NONE,
  CU_TENSOR_MAP_INTERLEAVE_16B,
  CU_TENSOR_MAP_INTERLEAVE_32B
};
enum CUtensorMapSwizzle {
  CU_TENSOR_MAP_SWIZZLE_NONE,
  CU_TENSOR_MAP_SWIZZLE_32B,
  CU_TENSOR_MAP_SWIZZLE_64B,
  CU_TENSOR_MAP_SWIZZLE_128B,
  CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
  CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
  CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B
};
enum CUtensorMapL2promotion {
  CU_TENSOR_MAP_L2_PROMOTION_NONE,
  CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B
};
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA };

namespace zellige::cuda {
// Encodes a map; `call` has all but the extents and strides, which are numbers of the emulator's type there.
inline CUresult encode(const cuuint64_t* extents, const cuuint64_t* strides, TensorMapCall call) {
  unsigned long long e[5] = {}, s[5] = {};
  for (unsigned d = 0; d < call.rank && d < 5; ++d) e[d] = extents[d], s[d] = d + 1 < call.rank ? strides[d] : 0;
  call.extents = e, call.strides = s;
  return static_cast<CUresult>(host->encode_tensor_map(call));
}
}  // namespace zellige::cuda

inline CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType element, cuuint32_t rank, void* address,
                                       const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                                       const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                       CUtensorMapFloatOOBfill fill) {
  return ::zellige::cuda::encode(extents, strides,
                                 {map, element, rank, address, nullptr, nullptr, box, element_strides, interleave,
                                  swizzle, promotion, fill, nullptr, nullptr, 0, 0});
}
inline CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType element, cuuint32_t rank, void* address,
                                        const cuuint64_t* extents, const cuuint64_t* strides, const int* lower,
                                        const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                        const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill) {
  return ::zellige::cuda::encode(extents, strides,
                                 {map, element, rank, address, nullptr, nullptr, nullptr, element_strides, interleave,
                                  swizzle, promotion, fill, lower, upper, channels, pixels});
}
using PFN_cuTensorMapEncodeTiled = decltype(&cuTensorMapEncodeTiled);
using PFN_cuTensorMapEncodeTiled_v12000 = PFN_cuTensorMapEncodeTiled;
using PFN_cuTensorMapEncodeIm2col = decltype(&cuTensorMapEncodeIm2col);
using PFN_cuTensorMapEncodeIm2col_v12000 = PFN_cuTensorMapEncodeIm2col;

enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess,
  cudaDriverEntryPointSymbolNotFound,
  cudaDriverEntryPointVersionNotSufficent
};
enum : unsigned long long { cudaEnableDefault = 0 };
inline cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                           cudaDriverEntryPointQueryResult* result = nullptr) {
  *function = !__builtin_strcmp(name, "cuTensorMapEncodeTiled")    ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled)
              : !__builtin_strcmp(name, "cuTensorMapEncodeIm2col") ? reinterpret_cast<void*>(&cuTensorMapEncodeIm2col)
                                                                   : nullptr;
  if (result) *result = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return *function ? cudaSuccess : ::zellige::cuda::done(cudaErrorInvalidSymbol);
}
inline cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                    unsigned long long flags,
                                                    cudaDriverEntryPointQueryResult* result = nullptr) {
  return cudaGetDriverEntryPoint(name, function, flags, result);
}
inline CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
inline CUresult cuGetErrorString(CUresult e, const char** text) {
  *text = e == CUDA_SUCCESS ? "no error" : "invalid argument";
  return CUDA_SUCCESS;
}
inline CUresult cuGetErrorName(CUresult e, const char** text) {
  *text = e == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_INVALID_VALUE";
  return CUDA_SUCCESS;
}

// Devices, contexts and memory. There are no modules: kernels are launched by the runtime's syntax.
struct CUctx_st {};
using CUcontext = CUctx_st*;
namespace zellige::cuda {
inline CUctx_st the_context;
inline CUresult driver(cudaError_t e) { return static_cast<CUresult>(e); }
}  // namespace zellige::cuda
inline CUresult cuDeviceGetCount(int* n) { return *n = 1, CUDA_SUCCESS; }
inline CUresult cuDeviceGet(CUdevice* d, int number) {
  return *d = 0, number ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
inline CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  return std::snprintf(name, static_cast<std::size_t>(length), "%s", cudaDeviceProp().name), CUDA_SUCCESS;
}
inline CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  return *bytes = cudaDeviceProp().totalGlobalMem, CUDA_SUCCESS;
}
/// The numbers of the runtime's attributes.
using CUdevice_attribute = int;
enum : int {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
};
inline CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute what, CUdevice) {
  return ::zellige::cuda::driver(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(what), 0));
}
inline CUresult cuDriverGetVersion(int* version) { return *version = CUDA_VERSION, CUDA_SUCCESS; }
inline CUresult cuCtxCreate(CUcontext* c, unsigned, CUdevice) {
  return *c = &::zellige::cuda::the_context, CUDA_SUCCESS;
}
inline CUresult cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice) { return cuCtxCreate(c, 0, 0); }
inline CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
inline CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
inline CUresult cuCtxGetCurrent(CUcontext* c) { return cuCtxCreate(c, 0, 0); }
inline CUresult cuCtxSynchronize() { return ::zellige::cuda::driver(cudaDeviceSynchronize()); }
inline CUresult cuCtxDestroy(CUcontext) { return CUDA_SUCCESS; }
inline CUresult cuMemAlloc(CUdeviceptr* p, std::size_t bytes) {
  void* made = nullptr;
  const cudaError_t e = cudaMalloc(::zellige::cuda::named("memory", &made), bytes);
  return *p = reinterpret_cast<CUdeviceptr>(made), ::zellige::cuda::driver(e);
}
inline CUresult cuMemFree(CUdeviceptr p) { return ::zellige::cuda::driver(cudaFree(reinterpret_cast<void*>(p))); }
inline CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return ::zellige::cuda::driver(cudaMemcpy(reinterpret_cast<void*>(to), from, bytes, cudaMemcpyHostToDevice));
}
inline CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return ::zellige::cuda::driver(cudaMemcpy(to, reinterpret_cast<const void*>(from), bytes, cudaMemcpyDeviceToHost));
}
inline CUresult cuMemsetD8(CUdeviceptr p, unsigned char value, std::size_t n) {
  return ::zellige::cuda::driver(cudaMemset(reinterpret_cast<void*>(p), value, n));
}

// The driver as a library that programs load by its name.
namespace zellige::cuda {
inline char the_driver;
inline void* open_library(const char* name, int flags) {
  if (name && std::string_view(name).find("libcuda.so") != std::string_view::npos) return &the_driver;
  return ::dlopen(name, flags);
}
inline void* find_symbol(void* library, const char* name) {
  if (library != &the_driver) return ::dlsym(library, name);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
  return function;
}
}  // namespace zellige::cuda
#define dlopen(...) ::zellige::cuda::open_library(__VA_ARGS__)
#define dlsym(...) ::zellige::cuda::find_symbol(__VA_ARGS__)
