// What programs take of the helper headers of NVIDIA's samples (helper_cuda.h, helper_functions.h, helper_timer.h, helper_string.h),
// where these are not beside the program.
#pragma once
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "zellige/cuda/occupancy.hpp"

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#endif

inline const char* _cudaGetErrorEnum(cudaError_t e) { return cudaGetErrorName(e); }
template <class T>
const char* _cudaGetErrorEnum(T) {
  return "an error";
}
template <class T>
void check(T result, const char* call, const char* file, int line) {
  if (!static_cast<int>(result)) return;
  std::fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<int>(result),
               _cudaGetErrorEnum(result), call);
  std::exit(EXIT_FAILURE);
}
#define checkCudaErrors(value) check((value), #value, __FILE__, __LINE__)
#define getLastCudaError(message) check(cudaGetLastError(), message, __FILE__, __LINE__)
#define printLastCudaError(message) check(cudaGetLastError(), message, __FILE__, __LINE__)
inline int ftoi(float x) { return static_cast<int>(x >= 0 ? x + 0.5f : x - 0.5f); }
inline int _ConvertSMVer2Cores(int, int) { return 128; }
inline const char* _ConvertSMVer2ArchName(int, int) { return "Hopper"; }

// Arguments: -name, --name, -name=value.
namespace zellige::cuda {
/// Returns what follows `name` in an argument: "" or "=..."; null if no argument has the name.
inline const char* argument(int argc, const char** argv, const char* name) {
  for (int i = 1; i < argc; ++i) {
    const char* a = argv[i];
    while (*a == '-') ++a;
    const std::size_t n = std::strlen(name);
    if (strncasecmp(a, name, n) == 0 && (a[n] == 0 || a[n] == '=')) return a + n;
  }
  return nullptr;
}
}  // namespace zellige::cuda
inline bool checkCmdLineFlag(int argc, const char** argv, const char* name) {
  return ::zellige::cuda::argument(argc, argv, name) != nullptr;
}
inline int getCmdLineArgumentInt(int argc, const char** argv, const char* name) {
  const char* v = ::zellige::cuda::argument(argc, argv, name);
  return v && *v ? std::atoi(v + 1) : 0;
}
inline float getCmdLineArgumentFloat(int argc, const char** argv, const char* name) {
  const char* v = ::zellige::cuda::argument(argc, argv, name);
  return v && *v ? static_cast<float>(std::atof(v + 1)) : 0;
}
inline bool getCmdLineArgumentString(int argc, const char** argv, const char* name, char** value) {
  const char* v = ::zellige::cuda::argument(argc, argv, name);
  *value = v && *v ? const_cast<char*>(v + 1) : nullptr;
  return *value != nullptr;
}
template <class T>
bool getCmdLineArgumentValue(int argc, const char** argv, const char* name, T* value) {
  const char* v = ::zellige::cuda::argument(argc, argv, name);
  if (v && *v) *value = static_cast<T>(std::atof(v + 1));
  return v != nullptr;
}

// Devices, of which there is one.
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int gpuDeviceInit(int) { return 0; }
inline int findCudaDevice(int, const char**) { return 0; }
inline int findIntegratedGPU() { return -1; }
inline bool checkCudaCapabilities(int major, int) { return major <= 9; }

// Timers, in milliseconds.
class StopWatchInterface {
 public:
  void start() { began_ = std::chrono::steady_clock::now(), running_ = true; }
  void stop() {
    if (running_) total_ += since(), ++sessions_, running_ = false;
  }
  void reset() { total_ = 0, sessions_ = 0, began_ = std::chrono::steady_clock::now(); }
  float getTime() const { return total_ + (running_ ? since() : 0); }
  float getAverageTime() const { return sessions_ ? total_ / static_cast<float>(sessions_) : 0; }

 private:
  float since() const {
    return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - began_).count();
  }
  std::chrono::steady_clock::time_point began_;
  float total_ = 0;
  int sessions_ = 0;
  bool running_ = false;
};
inline bool sdkCreateTimer(StopWatchInterface** t) { return *t = new StopWatchInterface, true; }
inline bool sdkDeleteTimer(StopWatchInterface** t) { return delete *t, *t = nullptr, true; }
inline bool sdkStartTimer(StopWatchInterface** t) { return (*t)->start(), true; }
inline bool sdkStopTimer(StopWatchInterface** t) { return (*t)->stop(), true; }
inline bool sdkResetTimer(StopWatchInterface** t) { return (*t)->reset(), true; }
inline float sdkGetTimerValue(StopWatchInterface** t) { return (*t)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** t) { return (*t)->getAverageTime(); }

/// Returns the path of a file beside the program or in its folder `data`; null if there is none.
inline char* sdkFindFilePath(const char* name, const char*) {
  for (const std::string& folder : {std::string(), std::string("data/"), std::string("./")})
    if (std::FILE* f = std::fopen((folder + name).c_str(), "rb"))
      return std::fclose(f), strdup((folder + name).c_str());
  return nullptr;
}
/// Returns whether all elements but a share `threshold` of them differ by at most `epsilon`.
template <class T, class S>
bool compareData(const T* reference, const T* data, unsigned n, S epsilon, float threshold) {
  unsigned wrong = 0;
  for (unsigned i = 0; i < n; ++i)
    if (!(std::fabs(static_cast<double>(reference[i]) - static_cast<double>(data[i])) <= static_cast<double>(epsilon)))
      ++wrong;
  return static_cast<float>(wrong) <= static_cast<float>(n) * threshold;
}
template <class T>
bool sdkCompareL2fe(const T* reference, const T* data, unsigned n, T epsilon) {
  double error = 0, size = 0;
  for (unsigned i = 0; i < n; ++i) {
    const double d = static_cast<double>(reference[i]) - static_cast<double>(data[i]);
    error += d * d, size += static_cast<double>(reference[i]) * static_cast<double>(reference[i]);
  }
  return size > 0 && std::sqrt(error / size) < static_cast<double>(epsilon);
}
