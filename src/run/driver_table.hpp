// Declares the functions of libcuda.so.1 that driver.cpp calls. The declarations follow the driver's ABI,
// with opaque pointers for handles, ints for devices and 64-bit integers for device addresses, so that a
// build needs no CUDA headers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

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

/// The driver's functions; driver_table.cpp has their names in CUDA. All return a CUresult.
struct Driver {
  int (*init)(unsigned);
  int (*driver_version)(int*);
  int (*error_name)(int, const char**);
  int (*error_string)(int, const char**);
  int (*device_count)(int*);
  int (*device_get)(int*, int);
  int (*device_name)(char*, int, int);
  int (*device_attribute)(int*, int, int);
  int (*context_retain)(void**, int);
  int (*context_set)(void*);
  int (*context_get)(void**);
  int (*context_device)(int*);
  int (*module_load)(void**, const void*);
  int (*module_unload)(void*);
  int (*module_function)(void**, void*, const char*);
  int (*function_get)(int*, int, void*);
  int (*function_set)(void*, int, int);
  int (*alloc)(std::uint64_t*, std::size_t);
  int (*free)(std::uint64_t);
  int (*pointer_attributes)(unsigned, int*, void**, std::uint64_t);
  int (*memset8)(std::uint64_t, unsigned char, std::size_t);
  int (*upload)(std::uint64_t, const void*, std::size_t);
  int (*download)(void*, std::uint64_t, std::size_t);
  int (*stream_create)(void**, unsigned);
  int (*stream_destroy)(void*);
  int (*stream_wait)(void*);
  int (*host_function)(void*, void (*)(void*), void*);
  int (*event_create)(void**, unsigned);
  int (*event_destroy)(void*);
  int (*event_record)(void*, void*);
  int (*event_ms)(float*, void*, void*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
  int (*copy)(std::uint64_t, std::uint64_t, std::size_t);
  int (*capture_begin)(void*, int);
  int (*capture_info)(void*, int* capturing, std::uint64_t* id, void*, void*, void*);
  int (*capture_mode)(int*);
  int (*capture_end)(void*, void**);
  int (*graph_instantiate)(void**, void*, unsigned long long);
  int (*graph_launch)(void*, void*);
  int (*graph_destroy)(void*);
  int (*graph_exec_destroy)(void*);
  int (*launch_ex)(const LaunchConfiguration*, void*, void**, void**);  // nullptr with drivers before 11.8
  int (*parameter)(void*, std::size_t index, std::size_t* offset,
                   std::size_t* bytes);  // nullptr: before 12.4
};

/// Returns the driver's functions. Loads and initializes the driver on the first call; throws Error if there is none.
const Driver& driver();

/// Throws Error with the driver's message if `status` is not CUDA_SUCCESS; `doing` says what failed. Throws Fault if a
/// kernel is at fault; if the error breaks the context, the message names the kernel (run/gpu_fault.hpp).
void check(int status, const std::string& doing);

}  // namespace zellige::run
