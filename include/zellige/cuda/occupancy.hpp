// What programs ask CUDA of kernels: attributes, occupancy; and of devices, streams and memory pools what has one answer here.
#pragma once
#include "zellige/cuda/runtime.hpp"

/// What is known of a kernel: nothing that depends on a GPU's compiler.
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes = 0, constSizeBytes = 0, localSizeBytes = 0;
  int maxThreadsPerBlock = 1024, numRegs = 32, ptxVersion = 90, binaryVersion = 90;
  int maxDynamicSharedSizeBytes = 48 << 10;
};
template <class F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, F) {
  return *a = {}, cudaSuccess;
}
template <class F>
cudaError_t cudaFuncSetCacheConfig(F, cudaFuncCache) {
  return cudaSuccess;
}
/// The number of blocks of a cooperative launch that the emulator follows: a cluster of 64 warps on 2 multiprocessors.
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F, int threads, std::size_t) {
  const int fit = threads > 0 ? 32 / ((threads + 31) / 32) : 0;
  return *blocks = fit > 8 ? 8 : fit, cudaSuccess;
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, F, std::size_t = 0, int limit = 0) {
  *block = limit > 0 && limit < 256 ? limit : 256;
  *grid = 8;
  return cudaSuccess;
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, F f, int threads, std::size_t shared,
                                                                   unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared);
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, F f, std::size_t shared = 0,
                                                        int limit = 0, unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, f, shared, limit);
}
template <class Shared, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, F f, Shared, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, f, 0, limit);
}
template <class F>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, F, int, int) {
  return *bytes = 48 << 10, cudaSuccess;
}
template <class F>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, F, const cudaLaunchConfig_t*) {
  return *clusters = 1, cudaSuccess;
}
template <class F>
cudaError_t cudaFuncSetSharedMemConfig(F, cudaSharedMemConfig) {
  return cudaSuccess;
}
template <class F>
cudaError_t cudaFuncGetName(const char** name, F) {
  return *name = "kernel", cudaSuccess;
}

inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return ::zellige::cuda::done(cudaErrorInvalidDevice); }
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return ::zellige::cuda::done(cudaErrorPeerAccessNotEnabled); }
inline cudaError_t cudaGetDeviceFlags(unsigned* flags) { return *flags = 0, cudaSuccess; }
inline cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* c) { return *c = cudaFuncCachePreferNone, cudaSuccess; }
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* c) {
  return *c = cudaSharedMemBankSizeFourByte, cudaSuccess;
}
inline cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int) {
  return std::snprintf(id, static_cast<std::size_t>(length), "0000:00:00.0"), cudaSuccess;
}
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
inline cudaError_t cudaHostGetFlags(unsigned* flags, void*) { return *flags = cudaHostAllocDefault, cudaSuccess; }
inline cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                       cudaStream_t s = nullptr) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s);
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&) {
  return *bytes = sizeof(T), cudaSuccess;
}

enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
struct cudaPointerAttributes {
  cudaMemoryType type = cudaMemoryTypeUnregistered;
  int device = 0;
  void *devicePointer = nullptr, *hostPointer = nullptr;
};
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
  static constexpr cudaMemoryType types[] = {cudaMemoryTypeUnregistered, cudaMemoryTypeDevice, cudaMemoryTypeManaged};
  *a = {};
  a->type = types[::zellige::cuda::host->kind_of(p)];
  if (a->type != cudaMemoryTypeUnregistered) a->devicePointer = const_cast<void*>(p);
  if (a->type != cudaMemoryTypeDevice) a->hostPointer = const_cast<void*>(p);
  return cudaSuccess;
}

// Streams.
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, std::size_t = 0, unsigned = 0) { return cudaSuccess; }
inline cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) { return *priority = 0, cudaSuccess; }
inline cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned* flags) { return *flags = 0, cudaSuccess; }
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s = nullptr, unsigned = 0) {
  return cudaEventRecord(e, s);
}
inline const cudaStream_t cudaStreamLegacy = nullptr, cudaStreamPerThread = nullptr;
enum cudaStreamAttrID { cudaStreamAttributeAccessPolicyWindow = 1, cudaStreamAttributeSynchronizationPolicy = 3 };
enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
struct cudaAccessPolicyWindow {
  void* base_ptr = nullptr;
  std::size_t num_bytes = 0;
  float hitRatio = 0;
  cudaAccessProperty hitProp{}, missProp{};
};
struct cudaStreamAttrValue {
  cudaAccessPolicyWindow accessPolicyWindow;
};
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*) {
  return cudaSuccess;
}

// Pools of memory, of which there is one.
struct CUmemPoolHandle_st {};
using cudaMemPool_t = CUmemPoolHandle_st*;
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic,
  cudaMemPoolReuseAllowInternalDependencies,
  cudaMemPoolAttrReleaseThreshold,
  cudaMemPoolAttrReservedMemCurrent,
  cudaMemPoolAttrReservedMemHigh,
  cudaMemPoolAttrUsedMemCurrent,
  cudaMemPoolAttrUsedMemHigh
};
namespace zellige::cuda {
inline CUmemPoolHandle_st the_pool;
}  // namespace zellige::cuda
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  return *pool = &::zellige::cuda::the_pool, cudaSuccess;
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int) { return cudaDeviceGetDefaultMemPool(pool, 0); }
inline cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t) { return cudaSuccess; }
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }
inline cudaError_t cudaMallocFromPoolAsync(::zellige::cuda::NamedPointer p, std::size_t bytes, cudaMemPool_t,
                                           cudaStream_t) {
  return cudaMalloc(p, bytes);
}
