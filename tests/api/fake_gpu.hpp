// A fake driver and NVRTC that only record their calls: two GPUs of sm_90 and one of sm_80.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct FakeLaunch {
  void* context = nullptr;
  void* stream = nullptr;
  unsigned grid = 0, block = 0;
  bool early = false;
  std::vector<std::uint64_t> arguments;  // the first few; of a tensor map its first word
};

/// The results of cuPointerGetAttributes for some addresses.
struct FakeMemory {
  std::uint64_t begin = 0, bytes = 0;
  int device = 0;
  bool accessible = true;  // in every context
};

struct FakeGpu {
  std::vector<FakeMemory> memory = {{0x1000, 0xff000}};  // in addition to what is allocated
  int pointer_queries = 0;
  std::vector<FakeLaunch> launches;
  int modules_loaded = 0, modules_unloaded = 0, allocations = 0, frees = 0;
  int allocations_in_capture = 0;             // that were not made under a relaxed mode
  std::uint64_t capturing = 0;                // the id of the capture that every stream is in; 0: none
  std::vector<std::string> wrong;             // what a driver would refuse
  bool gone = false;                          // as at the end of a process
  unsigned arguments_per_kernel = 2;          // to be read of a launch
  int launch_status = 0;                      // what a launch gives
  std::vector<unsigned> parameters = {8, 8};  // of the kernel in the cubin, their sizes
  unsigned max_threads = 0, cluster = 0;      // that the cubin says of it; 0: nothing
  unsigned capability = 90;                   // that the cubin is for
  std::optional<std::vector<unsigned>> driver_parameters = {};  // what the driver says where that differs
  int driver_threads = 1024;                                    // that it allows in a block of the kernel
  bool faulty = false;  // NVRTC gives machine code with a descriptor in an odd register
};
extern "C" FakeGpu* fake_gpu();
/// The cubin that the fake NVRTC returns, valid until the next call.
extern "C" const std::string* fake_cubin();
