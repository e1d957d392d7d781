// CUDA's runtime API for the host, as far as a program without a GPU can use it. Everything is done at once: streams and
// events order nothing. Memory of the device is the emulator's, which checks every copy.
#pragma once
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "zellige/cuda/errors.hpp"
#include "zellige/cuda/types.hpp"

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 10
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxL1 = 0,
  cudaSharedmemCarveoutMaxShared = 100
};
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy
};
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited };
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrMaxPitch = 11,
  cudaDevAttrTextureAlignment = 14,
  cudaDevAttrGpuOverlap = 15,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrTccDriver = 35,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrGlobalL1CacheSupported = 79,
  cudaDevAttrLocalL1CacheSupported = 80,
  cudaDevAttrHostNativeAtomicSupported = 86,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrComputePreemptionSupported = 90,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrClusterLaunch = 120
};
inline constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;
enum : unsigned {
  cudaStreamDefault = 0,
  cudaStreamNonBlocking = 1,
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2,
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4,
  cudaHostRegisterDefault = 0,
  cudaHostRegisterPortable = 1,
  cudaHostRegisterMapped = 2,
  cudaEventInterprocess = 4,
  cudaDeviceScheduleAuto = 0,
  cudaDeviceScheduleSpin = 1,
  cudaDeviceScheduleYield = 2,
  cudaDeviceScheduleBlockingSync = 4,
  cudaDeviceMapHost = 8,
  cudaMemAttachGlobal = 1,
  cudaMemAttachHost = 2,
  cudaMemAttachSingle = 4,
  cudaDeviceBlockingSync = 4
};
#define CUDART_CB
struct CUstream_st {};
struct CUevent_st {
  std::chrono::steady_clock::time_point at;
};
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;

/// The device that the emulator is, with an H100's limits and few multiprocessors, so that cooperative grids are small.
struct cudaDeviceProp {
  char name[256] = "Zellige emulator";
  std::size_t totalGlobalMem = std::size_t(8) << 30, sharedMemPerBlock = 48 << 10, sharedMemPerBlockOptin = 227 << 10,
              sharedMemPerMultiprocessor = 228 << 10, totalConstMem = 64 << 10;
  int regsPerBlock = 65536, regsPerMultiprocessor = 65536, warpSize = 32, maxThreadsPerBlock = 1024,
      maxThreadsPerMultiProcessor = 1024;
  int maxThreadsDim[3] = {1024, 1024, 64}, maxGridSize[3] = {2147483647, 65535, 65535};
  int clockRate = 1000000, major = 9, minor = 0, multiProcessorCount = 2, memoryClockRate = 1000000,
      memoryBusWidth = 1024, l2CacheSize = 1 << 20;
  int concurrentKernels = 1, cooperativeLaunch = 1, managedMemory = 1, canMapHostMemory = 1, unifiedAddressing = 1,
      concurrentManagedAccess = 1, asyncEngineCount = 1, maxBlocksPerMultiProcessor = 8, integrated = 0, ECCEnabled = 0,
      computeMode = 0, pciBusID = 0, pciDeviceID = 0, pciDomainID = 0, deviceOverlap = 1, kernelExecTimeoutEnabled = 0,
      streamPrioritiesSupported = 1, globalL1CacheSupported = 1, localL1CacheSupported = 1, isMultiGpuBoard = 0,
      hostNativeAtomicSupported = 0, pageableMemoryAccess = 0, cooperativeMultiDeviceLaunch = 0, tccDriver = 0,
      singleToDoublePrecisionPerfRatio = 2, multiGpuBoardGroupID = 0, memoryPoolsSupported = 1,
      persistingL2CacheMaxSize = 0, maxTexture1DLinear = 1 << 28;
  std::size_t memPitch = 2147483647, textureAlignment = 512, texturePitchAlignment = 32, surfaceAlignment = 512,
              reservedSharedMemPerBlock = 1024;
  int computePreemptionSupported = 1, maxTexture1D = 131072, maxTexture2D[2] = {131072, 65536},
      maxTexture3D[3] = {16384, 16384, 16384}, maxTexture1DLayered[2] = {32768, 2048},
      maxTexture2DLayered[3] = {32768, 32768, 2048}, accessPolicyMaxWindowSize = 0;
};

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore,
  cudaLaunchAttributeAccessPolicyWindow,
  cudaLaunchAttributeCooperative,
  cudaLaunchAttributeSynchronizationPolicy,
  cudaLaunchAttributeClusterDimension,
  cudaLaunchAttributeClusterSchedulingPolicyPreference,
  cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaLaunchAttributeProgrammaticEvent,
  cudaLaunchAttributePriority
};
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative, programmaticStreamSerializationAllowed, priority;
  struct {
    unsigned x, y, z;
  } clusterDim;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
/// The configuration of cudaLaunchKernelEx.
struct cudaLaunchConfig_t {
  dim3 zellige_gridDim, zellige_blockDim;  // the names are rewritten: gridDim is a variable of kernels
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};

namespace zellige::cuda {

/// A pointer to a pointer for cudaMalloc, with the name by which findings call the memory.
struct NamedPointer {
  void** p;
  const char* name;
};
template <class T>
NamedPointer named(const char* name, T** p) {
  return {reinterpret_cast<void**>(p), name};
}
inline cudaError_t done(int error) { return error ? static_cast<cudaError_t>(host->error(error), error) : cudaSuccess; }
inline CUstream_st the_stream;

/// What a captured stream does (graphs.hpp).
struct Recording {
  std::vector<std::function<void()>> steps;
};
/// The capture under way, if there is one.
inline Recording* recording = nullptr;
/// Does what a stream is asked for, at once or, during a capture, when the graph is launched. step() returns a cudaError_t.
template <class F>
cudaError_t in_order(F step) {
  if (!recording) return step();
  recording->steps.emplace_back([step] { step(); });
  return cudaSuccess;
}

/// Remembers a kernel's limit of dynamic shared memory. `kernel`: its name in the source.
inline cudaError_t allow(const char* kernel, cudaFuncAttribute what, int value) {
  if (what == cudaFuncAttributeMaxDynamicSharedMemorySize && (value < 0 || value > 227 * 1024))
    return done(cudaErrorInvalidValue);
  if (what == cudaFuncAttributeMaxDynamicSharedMemorySize) host->allow_shared(kernel, std::size_t(value));
  return cudaSuccess;
}

}  // namespace zellige::cuda

inline cudaError_t cudaMalloc(::zellige::cuda::NamedPointer p, std::size_t bytes) {
  return ::zellige::cuda::done(
      ::zellige::cuda::host->allocate(p.p, bytes, ::zellige::cuda::MemoryKind::device, p.name));
}
inline cudaError_t cudaMallocManaged(::zellige::cuda::NamedPointer p, std::size_t bytes,
                                     unsigned = cudaMemAttachGlobal) {
  return ::zellige::cuda::done(
      ::zellige::cuda::host->allocate(p.p, bytes, ::zellige::cuda::MemoryKind::managed, p.name));
}
inline cudaError_t cudaMallocHost(::zellige::cuda::NamedPointer p, std::size_t bytes, unsigned = 0) {
  return cudaMallocManaged(p, bytes);
}
inline cudaError_t cudaHostAlloc(::zellige::cuda::NamedPointer p, std::size_t bytes, unsigned = 0) {
  return cudaMallocManaged(p, bytes);
}
inline cudaError_t cudaMallocAsync(::zellige::cuda::NamedPointer p, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(p, bytes);
}
inline cudaError_t cudaMallocPitch(::zellige::cuda::NamedPointer p, std::size_t* pitch, std::size_t width,
                                   std::size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(p, *pitch * height);
}
template <class T>
cudaError_t cudaMalloc(T** p, std::size_t bytes) {
  return cudaMalloc(::zellige::cuda::named("memory", p), bytes);
}
template <class T>
cudaError_t cudaMallocManaged(T** p, std::size_t bytes, unsigned = cudaMemAttachGlobal) {
  return cudaMallocManaged(::zellige::cuda::named("managed memory", p), bytes);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = static_cast<T*>(host);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* p) { return ::zellige::cuda::done(::zellige::cuda::host->release(p)); }
inline cudaError_t cudaFreeHost(void* p) { return cudaFree(p); }
inline cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return cudaFree(p); }

inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return ::zellige::cuda::done(::zellige::cuda::host->copy(to, from, bytes, kind));
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
  return ::zellige::cuda::in_order([=] { return cudaMemcpy(to, from, bytes, kind); });
}
inline cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return ::zellige::cuda::done(::zellige::cuda::host->copy_2d(to, to_pitch, from, from_pitch, width, height, kind));
}
inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                     cudaStream_t = nullptr) {
  return ::zellige::cuda::in_order([=] { return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind); });
}
inline cudaError_t cudaMemset(void* p, int value, std::size_t bytes) {
  return ::zellige::cuda::done(::zellige::cuda::host->fill(p, value, bytes));
}
inline cudaError_t cudaMemset2D(void* p, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  for (std::size_t row = 0; row < height; ++row)
    if (const cudaError_t e = cudaMemset(static_cast<char*>(p) + row * pitch, value, width); e != cudaSuccess) return e;
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t = nullptr) {
  return ::zellige::cuda::in_order([=] { return cudaMemset(p, value, bytes); });
}
inline cudaError_t cudaMemset2DAsync(void* p, std::size_t pitch, int value, std::size_t width, std::size_t height,
                                     cudaStream_t = nullptr) {
  return ::zellige::cuda::in_order([=] { return cudaMemset2D(p, pitch, value, width, height); });
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpy(const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol)) + offset, from, bytes, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes, kind);
}
template <class T, class U>
cudaError_t cudaGetSymbolAddress(T** p, U& symbol) {
  *reinterpret_cast<void**>(p) = const_cast<void*>(reinterpret_cast<const volatile void*>(&symbol));
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = ::zellige::cuda::host->memory(true);
  *total = ::zellige::cuda::host->memory(false);
  return cudaSuccess;
}
template <class... Rest>
cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, Rest...) {
  return cudaSuccess;
}
template <class... Rest>
cudaError_t cudaMemAdvise(const void*, std::size_t, Rest...) {
  return cudaSuccess;
}

inline cudaError_t cudaPeekAtLastError() { return cudaError_t(::zellige::cuda::host->error(-1)); }
inline cudaError_t cudaGetLastError() { return cudaError_t(::zellige::cuda::host->error(cudaSuccess)); }
inline cudaError_t cudaDeviceSynchronize() {
  return cudaPeekAtLastError() == cudaErrorLaunchFailure ? cudaErrorLaunchFailure : cudaSuccess;
}
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
inline cudaError_t cudaThreadExit() { return cudaSuccess; }
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, cudaSuccess; }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* greatest) {
  return *lowest = 0, *greatest = -5, cudaSuccess;
}
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaDeviceReset() { return cudaSuccess; }
inline cudaError_t cudaSetDevice(int device) { return ::zellige::cuda::done(device ? cudaErrorInvalidDevice : 0); }
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) { return *p = {}, cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = 12000, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 12000, cudaSuccess; }
inline cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
  const cudaDeviceProp p;
  switch (what) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = p.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = int(p.sharedMemPerBlock);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = int(p.sharedMemPerBlockOptin);
      break;
    case cudaDevAttrWarpSize:
      *value = p.warpSize;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = p.multiProcessorCount;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = p.maxThreadsPerMultiProcessor;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = p.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = p.minor;
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = int(p.totalConstMem);
      break;
    case cudaDevAttrMaxPitch:
      *value = int(p.memPitch);
      break;
    case cudaDevAttrTextureAlignment:
      *value = int(p.textureAlignment);
      break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      *value = p.maxBlocksPerMultiProcessor;
      break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *value = int(p.reservedSharedMemPerBlock);
      break;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrClusterLaunch:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
      *value = 1;
      break;
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrTccDriver:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode:
      *value = 0;
      break;
    case cudaDevAttrL2CacheSize:
      *value = p.l2CacheSize;
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = int(p.sharedMemPerMultiprocessor);
      break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      *value = p.regsPerBlock;
      break;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
    case cudaDevAttrMaxBlockDimZ:
      *value = p.maxThreadsDim[what - cudaDevAttrMaxBlockDimX];
      break;
    case cudaDevAttrMaxGridDimX:
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = p.maxGridSize[what - cudaDevAttrMaxGridDimX];
      break;
    case cudaDevAttrClockRate:
      *value = p.clockRate;
      break;
    case cudaDevAttrMemoryClockRate:
      *value = p.memoryClockRate;
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = p.memoryBusWidth;
      break;
    default:
      return ::zellige::cuda::done(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

inline cudaError_t cudaStreamCreate(cudaStream_t* s) { return *s = &::zellige::cuda::the_stream, cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) { return cudaStreamCreate(s); }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned, int) { return cudaStreamCreate(s); }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t = nullptr) {
  return e->at = std::chrono::steady_clock::now(), cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* e) { return *e = new CUevent_st, cudaEventRecord(*e); }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
inline cudaError_t cudaEventDestroy(cudaEvent_t e) { return delete e, cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  *ms = std::chrono::duration<float, std::milli>(to->at - from->at).count();
  return cudaSuccess;
}

inline cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
inline cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit) { return *value = 1 << 20, cudaSuccess; }
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t = nullptr) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
/// Calls a function of the host in the order of a stream: at once.
using cudaHostFn_t = void (*)(void*);
using cudaStreamCallback_t = void (*)(cudaStream_t, cudaError_t, void*);
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* with) {
  return ::zellige::cuda::in_order([=] { return function(with), cudaSuccess; });
}
inline cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t function, void* with, unsigned) {
  return function(s, cudaSuccess, with), cudaSuccess;
}
