#include "fake_gpu.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "../toolchain/cubin.hpp"

namespace {

FakeGpu gpu;
std::mutex mutex;
struct Allocation {
  void* context;
  std::size_t bytes;
};
std::map<std::uint64_t, Allocation> allocations;
thread_local void* current = nullptr;
thread_local int mode = 0;

void* context_of(int device) { return reinterpret_cast<void*>(std::uintptr_t(0x100 + device)); }
int device_of(void* context) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(context)) - 0x100; }

struct Module {
  void* context;
};
/// CUlaunchConfig and CUlaunchAttribute as the driver has them.
struct Attribute {
  int id, padding;
  unsigned value[16];
};
struct Configuration {
  unsigned grid[3], block[3], shared;
  void* stream;
  Attribute* attributes;
  unsigned count;
};

/// The cubin of a kernel k with one instruction, a copy; a faulty fake has its descriptor in UR1.
std::string cubin() {
  std::string code;
  put<std::uint64_t>(code, 0, gpu.faulty ? 0x0000000004077dae : 0x0000000004077fae);
  put<std::uint64_t>(code, 8, 0x0001f00008141d40);
  CubinForm form{.parameters = {gpu.parameters.begin(), gpu.parameters.end()}};
  form.max_threads = gpu.max_threads, form.cluster = gpu.cluster, form.capability = gpu.capability;
  return cubin_of(code, form);
}

int launched(void* function, unsigned grid, unsigned block, void* stream, bool early, void** arguments) {
  const std::lock_guard lock(mutex);
  if (static_cast<Module*>(function)->context != current) gpu.wrong.push_back("a kernel of another context");
  FakeLaunch l{current, stream, grid, block, early, {}};
  for (unsigned i = 0; i < gpu.arguments_per_kernel; ++i)
    l.arguments.push_back(*static_cast<std::uint64_t*>(arguments[i]));
  gpu.launches.push_back(std::move(l));
  return gpu.launch_status;
}

}  // namespace

extern "C" {
FakeGpu* fake_gpu() { return &gpu; }
const std::string* fake_cubin() {
  static std::string bytes;
  return bytes = cubin(), &bytes;
}

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* v) { return *v = 13000, 0; }
int cuGetErrorName(int, const char** s) { return *s = "FAKE", 0; }
int cuGetErrorString(int, const char** s) { return *s = "fake", 0; }
int cuDeviceGetCount(int* n) { return *n = 3, 0; }
int cuDeviceGet(int* handle, int i) { return *handle = i, 0; }
int cuDeviceGetName(char* to, int, int) { return std::strcpy(to, "Fake GPU"), 0; }
int cuDeviceGetAttribute(int* to, int which, int device) { return *to = which == 75 ? (device < 2 ? 9 : 8) : 0, 0; }
int cuDevicePrimaryCtxRetain(void** context, int device) { return *context = context_of(device), 0; }
int cuCtxSetCurrent(void* context) { return current = context, 0; }
int cuCtxGetCurrent(void** context) { return *context = current, gpu.gone ? 4 : 0; }
int cuCtxGetDevice(int* device) { return current ? (*device = device_of(current), 0) : 201; }
int cuModuleLoadData(void** module, const void*) {
  const std::lock_guard lock(mutex);
  ++gpu.modules_loaded;
  return *module = new Module{current}, 0;
}
int cuModuleUnload(void* module) {
  const std::lock_guard lock(mutex);
  if (static_cast<Module*>(module)->context != current) gpu.wrong.push_back("unloads a module of another context");
  ++gpu.modules_unloaded;
  return delete static_cast<Module*>(module), 0;
}
int cuModuleGetFunction(void** function, void* module, const char*) { return *function = module, 0; }
int cuFuncGetAttribute(int* to, int which, void*) { return *to = which == 0 ? gpu.driver_threads : 0, 0; }
int cuFuncGetParamInfo(void*, std::size_t at, std::size_t* offset, std::size_t* bytes) {
  const std::vector<unsigned>& all = gpu.driver_parameters ? *gpu.driver_parameters : gpu.parameters;
  if (at >= all.size()) return 1;
  *offset = 0, *bytes = all[at];
  for (std::size_t i = 0; i < at; ++i) *offset += all[i];
  return 0;
}
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuMemAlloc_v2(std::uint64_t* to, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  ++gpu.allocations;
  if (gpu.capturing && mode != 2) ++gpu.allocations_in_capture;
  *to = reinterpret_cast<std::uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  allocations[*to] = {current, bytes};
  return 0;
}
int cuMemFree_v2(std::uint64_t at) {
  const std::lock_guard lock(mutex);
  if (allocations.at(at).context != current) gpu.wrong.push_back("frees memory of another context");
  allocations.erase(at);
  ++gpu.frees;
  return std::free(reinterpret_cast<void*>(at)), 0;
}
int cuPointerGetAttributes(unsigned count, int* attributes, void** to, std::uint64_t at) {
  const std::lock_guard lock(mutex);
  ++gpu.pointer_queries;
  FakeMemory found;
  for (const FakeMemory& m : gpu.memory)
    if (m.begin <= at && at - m.begin < m.bytes) found = m;
  for (const auto& [begin, a] : allocations)
    if (begin <= at && at - begin < a.bytes) found = {begin, a.bytes, device_of(a.context)};
  for (unsigned i = 0; i < count; ++i) {
    const bool known = found.bytes != 0;
    switch (attributes[i]) {
      case 2:
        *static_cast<unsigned*>(to[i]) = known ? 2 : 0;
        break;
      case 3:
        *static_cast<std::uint64_t*>(to[i]) = known && found.accessible ? at : 0;
        break;
      case 9:
        *static_cast<int*>(to[i]) = found.device;
        break;
      case 11:
        *static_cast<std::uint64_t*>(to[i]) = found.begin;
        break;
      case 12:
        *static_cast<std::size_t*>(to[i]) = found.bytes;
        break;
      default:
        return 1;
    }
  }
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int* other) { return std::swap(*other, mode), 0; }
int cuStreamGetCaptureInfo_v2(void*, int* capturing, std::uint64_t* id, void*, void*, void*) {
  const std::lock_guard lock(mutex);
  return *capturing = gpu.capturing != 0, *id = gpu.capturing, 0;
}
int cuLaunchKernel(void* f, unsigned x, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned,
                   void* stream, void** arguments, void**) {
  return launched(f, x, threads, stream, false, arguments);
}
int cuLaunchKernelEx(const Configuration* c, void* f, void** arguments, void**) {
  bool early = false;
  for (unsigned i = 0; i < c->count; ++i) early = early || c->attributes[i].id == 6;
  return launched(f, c->grid[0], c->block[0], c->stream, early, arguments);
}
// Functions that a launch does not need.
#define ZELLIGE_UNUSED(name) \
  int name() { return gpu.wrong.push_back(#name), 1; }
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

int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
const char* nvrtcGetErrorString(int) { return "fake"; }
int nvrtcCreateProgram(void** p, const char*, const char*, int, const char* const*, const char* const*) {
  return *p = &gpu, 0;
}
int nvrtcDestroyProgram(void**) { return 0; }
int nvrtcCompileProgram(void*, int, const char* const*) { return 0; }
int nvrtcGetProgramLogSize(void*, std::size_t* n) { return *n = 0, 0; }
int nvrtcGetProgramLog(void*, char*) { return 0; }
int nvrtcGetCUBINSize(void*, std::size_t* n) { return *n = cubin().size(), 0; }
int nvrtcGetCUBIN(void*, char* to) { return std::memcpy(to, cubin().data(), cubin().size()), 0; }
}
