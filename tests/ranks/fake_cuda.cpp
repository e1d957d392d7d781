// A CUDA driver whose device memory is the host's and whose streams are always done. It replaces libcuda.so.1 where ranks
// are tested without GPUs.
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuGetErrorName(int, const char** name) { return *name = "CUDA_ERROR", 0; }
int cuGetErrorString(int, const char** text) { return *text = "an error of the driver that stands in", 0; }
int cuDeviceGetCount(int* count) { return *count = 8, 0; }
int cuDeviceGet(int* device, int index) { return *device = index, 0; }
int cuDeviceGetName(char* name, int, int) { return std::strcpy(name, "no GPU"), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int major = 75;
  return *value = attribute == major ? 9 : 0, 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) { return *context = reinterpret_cast<void*>(device + 1L), 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuMemAlloc_v2(std::uint64_t* to, std::size_t bytes) {
  return *to = reinterpret_cast<std::uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256 + 256)), 0;
}
int cuMemFree_v2(std::uint64_t at) { return std::free(reinterpret_cast<void*>(at)), 0; }
int cuMemsetD8_v2(std::uint64_t at, unsigned char value, std::size_t bytes) {
  return std::memset(reinterpret_cast<void*>(at), value, bytes), 0;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
  return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), 0;
}
int cuStreamCreate(void** stream, unsigned) { return *stream = nullptr, 0; }
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void*) { return 0; }
/// With FAKE_STREAM_STUCK, work on a stream does not end, as where another rank has ended.
int cuStreamQuery(void*) { return std::getenv("FAKE_STREAM_STUCK") ? 600 : 0; }

// Events one millisecond apart, and graphs that do nothing when they are launched.
int cuEventCreate(void** event, unsigned) { return *event = event, 0; }
int cuEventDestroy_v2(void*) { return 0; }
int cuEventRecord(void*, void*) { return 0; }
int cuEventElapsedTime(float* ms, void*, void*) { return *ms = 1, 0; }
int cuStreamBeginCapture_v2(void*, int) { return 0; }
int cuStreamEndCapture(void*, void** graph) { return *graph = graph, 0; }
int cuGraphInstantiateWithFlags(void** ready, void*, unsigned long long) { return *ready = ready, 0; }
int cuGraphLaunch(void*, void*) { return 0; }
int cuGraphDestroy(void*) { return 0; }
int cuGraphExecDestroy(void*) { return 0; }

// What the table of the driver's functions needs and ranks do not call.
#define ZELLIGE_UNUSED(name) \
  int name() { return 999; }
ZELLIGE_UNUSED(cuCtxGetCurrent)
ZELLIGE_UNUSED(cuCtxGetDevice)
ZELLIGE_UNUSED(cuModuleLoadData)
ZELLIGE_UNUSED(cuModuleUnload)
ZELLIGE_UNUSED(cuModuleGetFunction)
ZELLIGE_UNUSED(cuFuncGetAttribute)
ZELLIGE_UNUSED(cuFuncSetAttribute)
ZELLIGE_UNUSED(cuPointerGetAttributes)
ZELLIGE_UNUSED(cuLaunchHostFunc)
ZELLIGE_UNUSED(cuLaunchKernel)
ZELLIGE_UNUSED(cuMemcpyDtoD_v2)
ZELLIGE_UNUSED(cuStreamGetCaptureInfo_v2)
ZELLIGE_UNUSED(cuThreadExchangeStreamCaptureMode)
}
