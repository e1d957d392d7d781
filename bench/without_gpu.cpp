// A CUDA driver and a compiler that do nothing, and a table of DLPack's functions that says that tensors of the host are on it: bench/launch.py
// --without-gpu measures with them what a call takes of the host, less the driver's own time.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "../tests/toolchain/cubin.hpp"

namespace {

/// A cubin of one kernel with one instruction, a copy, which nothing runs.
const std::string& cubin() {
  static const std::string bytes = [] {
    std::string code;
    put<std::uint64_t>(code, 0, 0x0000000004077fae), put<std::uint64_t>(code, 8, 0x0001f00008141d40);
    return cubin_of(code);
  }();
  return bytes;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR", 0; }
int cuGetErrorString(int, const char** words) { return *words = "an error of the driver that stands in", 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int index) { return *device = index, 0; }
int cuDeviceGetName(char* name, int, int) { return std::strcpy(name, "no GPU"), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int major = 75;
  return *value = attribute == major ? 9 : 0, 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) { return *context = reinterpret_cast<void*>(device + 1L), 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxGetCurrent(void** context) { return *context = reinterpret_cast<void*>(1L), 0; }
int cuCtxGetDevice(int* device) { return *device = 0, 0; }
int cuModuleLoadData(void** module, const void*) { return *module = module, 0; }
int cuModuleUnload(void*) { return 0; }
int cuModuleGetFunction(void** function, void* module, const char*) { return *function = module, 0; }
int cuFuncGetAttribute(int* value, int attribute, void*) { return *value = attribute == 0 ? 1024 : 0, 0; }
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuMemAlloc_v2(std::uint64_t* to, std::size_t bytes) {
  return *to = reinterpret_cast<std::uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256)), 0;
}
int cuMemFree_v2(std::uint64_t at) { return std::free(reinterpret_cast<void*>(at)), 0; }
int cuThreadExchangeStreamCaptureMode(int*) { return 0; }
int cuStreamGetCaptureInfo_v2(void*, int* capturing, std::uint64_t* id, void*, void*, void*) {
  return *capturing = 0, *id = 0, 0;
}
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) {
  return 0;
}
int cuLaunchKernelEx(const void*, void*, void**, void**) { return 0; }

// What a launch does not call.
#define ZELLIGE_UNUSED(name) \
  int name() { return 999; }
ZELLIGE_UNUSED(cuPointerGetAttributes)
ZELLIGE_UNUSED(cuMemsetD8_v2)
ZELLIGE_UNUSED(cuMemcpyHtoD_v2)
ZELLIGE_UNUSED(cuMemcpyDtoH_v2)
ZELLIGE_UNUSED(cuMemcpyDtoD_v2)
ZELLIGE_UNUSED(cuStreamCreate)
ZELLIGE_UNUSED(cuStreamDestroy_v2)
ZELLIGE_UNUSED(cuStreamSynchronize)
ZELLIGE_UNUSED(cuLaunchHostFunc)
ZELLIGE_UNUSED(cuEventCreate)
ZELLIGE_UNUSED(cuEventDestroy_v2)
ZELLIGE_UNUSED(cuEventRecord)
ZELLIGE_UNUSED(cuEventElapsedTime)
ZELLIGE_UNUSED(cuStreamBeginCapture_v2)
ZELLIGE_UNUSED(cuStreamEndCapture)
ZELLIGE_UNUSED(cuGraphInstantiateWithFlags)
ZELLIGE_UNUSED(cuGraphLaunch)
ZELLIGE_UNUSED(cuGraphDestroy)
ZELLIGE_UNUSED(cuGraphExecDestroy)

// NVRTC.
int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
const char* nvrtcGetErrorString(int) { return "an error of the compiler that stands in"; }
int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*, const char* const*) {
  return *program = program, 0;
}
int nvrtcDestroyProgram(void**) { return 0; }
int nvrtcCompileProgram(void*, int, const char* const*) { return 0; }
int nvrtcGetProgramLogSize(void*, std::size_t* size) { return *size = 0, 0; }
int nvrtcGetProgramLog(void*, char*) { return 0; }
int nvrtcGetCUBINSize(void*, std::size_t* size) { return *size = cubin().size(), 0; }
int nvrtcGetCUBIN(void*, char* to) { return std::memcpy(to, cubin().data(), cubin().size()), 0; }

/// DLPack's exchange table (dlpack.h, DLPackExchangeAPI).
struct Exchange {
  std::uint32_t major, minor;
  const void* earlier;
  void *allocate, *own, *give;
  int (*view)(void* object, void* tensor);
  int (*current_stream)(int device_type, std::int32_t device, void** stream);
};

/// Returns a table like that of a framework whose tensors are the host's, in which they are those of GPU 0.
const void* as_of_gpu(const Exchange* of_host) {
  static Exchange given, made;
  given = made = *of_host;
  made.view = [](void* object, void* tensor) {
    const int status = given.view(object, tensor);
    constexpr int device_type_at = 8, cuda = 2;
    std::memcpy(static_cast<char*>(tensor) + device_type_at, &cuda, sizeof cuda);
    return status;
  };
  made.current_stream = [](int, std::int32_t, void** stream) { return *stream = nullptr, 0; };
  return &made;
}
}
