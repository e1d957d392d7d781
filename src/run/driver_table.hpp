// Declares the functions of libcuda.so.1 that driver.cpp calls. The declarations follow the driver's ABI,
// with opaque pointers for handles, ints for devices and 64-bit integers for device addresses, so that a
// build needs no CUDA headers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "system/library.hpp"

namespace zellige::run {

/// CUlaunchAttribute of the driver API. `value`: the cluster's x, y, z, or 1 for programmatic stream serialization.
struct LaunchAttribute {
  static constexpr int cluster_dimension = 4, programmatic_stream_serialization = 6;
  int id = 0, padding = 0;
  unsigned value[16] = {};
};
static_assert(sizeof(LaunchAttribute) == 72);
struct LaunchConfiguration {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfiguration) == 56);

/// The driver's functions, each with its name in CUDA. All return a CUresult.
struct Driver {
  system::Library library = system::Library::open("CUDA driver", {"libcuda.so.1", "libcuda.so"});
  int (*init)(unsigned) = library["cuInit"];
  int (*driver_version)(int*) = library["cuDriverGetVersion"];
  int (*error_name)(int, const char**) = library["cuGetErrorName"];
  int (*error_string)(int, const char**) = library["cuGetErrorString"];
  int (*device_count)(int*) = library["cuDeviceGetCount"];
  int (*device_get)(int*, int) = library["cuDeviceGet"];
  int (*device_name)(char*, int, int) = library["cuDeviceGetName"];
  int (*device_attribute)(int*, int, int) = library["cuDeviceGetAttribute"];
  int (*context_retain)(void**, int) = library["cuDevicePrimaryCtxRetain"];
  int (*context_set)(void*) = library["cuCtxSetCurrent"];
  int (*context_get)(void**) = library["cuCtxGetCurrent"];
  int (*context_device)(int*) = library["cuCtxGetDevice"];
  int (*module_load)(void**, const void*) = library["cuModuleLoadData"];
  int (*module_unload)(void*) = library["cuModuleUnload"];
  int (*module_function)(void**, void*, const char*) = library["cuModuleGetFunction"];
  int (*function_get)(int*, int, void*) = library["cuFuncGetAttribute"];
  int (*function_set)(void*, int, int) = library["cuFuncSetAttribute"];
  int (*alloc)(std::uint64_t*, std::size_t) = library["cuMemAlloc_v2"];
  int (*free)(std::uint64_t) = library["cuMemFree_v2"];
  int (*pointer_attributes)(unsigned, int*, void**, std::uint64_t) = library["cuPointerGetAttributes"];
  int (*memset8)(std::uint64_t, unsigned char, std::size_t) = library["cuMemsetD8_v2"];
  int (*upload)(std::uint64_t, const void*, std::size_t) = library["cuMemcpyHtoD_v2"];
  int (*download)(void*, std::uint64_t, std::size_t) = library["cuMemcpyDtoH_v2"];
  int (*stream_create)(void**, unsigned) = library["cuStreamCreate"];
  int (*stream_destroy)(void*) = library["cuStreamDestroy_v2"];
  int (*stream_wait)(void*) = library["cuStreamSynchronize"];
  int (*stream_query)(void*) = library.find("cuStreamQuery");  // nullptr: a driver of tests
  int (*host_function)(void*, void (*)(void*), void*) = library["cuLaunchHostFunc"];
  int (*event_create)(void**, unsigned) = library["cuEventCreate"];
  int (*event_destroy)(void*) = library["cuEventDestroy_v2"];
  int (*event_record)(void*, void*) = library["cuEventRecord"];
  int (*event_ms)(float*, void*, void*) = library["cuEventElapsedTime"];
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                void**) = library["cuLaunchKernel"];
  int (*copy)(std::uint64_t, std::uint64_t, std::size_t) = library["cuMemcpyDtoD_v2"];
  int (*capture_begin)(void*, int) = library["cuStreamBeginCapture_v2"];
  int (*capture_info)(void*, int* capturing, std::uint64_t* id, void*, void*,
                      void*) = library["cuStreamGetCaptureInfo_v2"];
  int (*capture_mode)(int*) = library["cuThreadExchangeStreamCaptureMode"];
  int (*capture_end)(void*, void**) = library["cuStreamEndCapture"];
  int (*graph_instantiate)(void**, void*, unsigned long long) = library["cuGraphInstantiateWithFlags"];
  int (*graph_launch)(void*, void*) = library["cuGraphLaunch"];
  int (*graph_destroy)(void*) = library["cuGraphDestroy"];
  int (*graph_exec_destroy)(void*) = library["cuGraphExecDestroy"];
  int (*launch_ex)(const LaunchConfiguration*, void*, void**,
                   void**) = library.find("cuLaunchKernelEx");  // nullptr with drivers before 11.8
  int (*parameter)(void*, std::size_t index, std::size_t* offset,
                   std::size_t* bytes) = library.find("cuFuncGetParamInfo");  // nullptr: before 12.4
};

/// Returns the driver's functions. Loads and initializes the driver on the first call; throws Error if there is none.
const Driver& driver();

/// Throws Error with the driver's message if `status` is not CUDA_SUCCESS; `doing` says what failed. Throws Fault if a
/// kernel is at fault; if the error breaks the context, the message names the kernel (context_is_gone()).
void check(int status, std::string_view doing);

// The error message for a kernel that has broken the GPU context of its process says which program and kernel it was, as far
// as that is known with asynchronous launches, and what to do.
//
//   record_launch("linear", "linear_k0");  // before each launch
//   record_wait();                         // when everything launched has completed without error
//   if (breaks_context(status)) throw Fault(context_is_gone(status, "CUDA_ERROR_ILLEGAL_INSTRUCTION"));
//   // program linear, kernel linear_k0: ended in an illegal instruction on the GPU
//   // (CUDA_ERROR_ILLEGAL_INSTRUCTION), and ...
//
// The driver reports such an error from the next call, whatever that is. The message names one kernel only if no other
// was launched since the last synchronization. CUDA_LAUNCH_BLOCKING=1 makes every launch synchronous.

/// Records a kernel launch, for the error message. Thread-safe; takes some tens of nanoseconds.
void record_launch(std::string_view program, std::string_view kernel);
/// Records that all launched kernels have completed without error, for the error message. Thread-safe.
void record_wait();

/// Returns true if a CUresult makes the context unusable: illegal addresses, illegal instructions, timeouts and others.
bool breaks_context(int status);

/// Returns the error message for a kernel that has broken the GPU context, one sentence; `name` is the
/// driver's name of the error (CUDA_ERROR_...).
std::string context_is_gone(int status, std::string_view name);

}  // namespace zellige::run
