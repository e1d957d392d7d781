// GPU_Clock: measures GPU time on the default stream between start() and seconds() or milliseconds().
#pragma once
#if __has_include_next(<cutlass/util/GPU_Clock.hpp>)
#include_next <cutlass/util/GPU_Clock.hpp>
#else
#include <cuda_runtime_api.h>

#include <cute/util/debug.hpp>

struct GPU_Clock {
  GPU_Clock() {
    cudaEventCreate(&start_);
    cudaEventCreate(&stop_);
    cudaEventRecord(start_);
  }
  ~GPU_Clock() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  GPU_Clock(GPU_Clock const&) = delete;
  GPU_Clock& operator=(GPU_Clock const&) = delete;

  void start() { cudaEventRecord(start_); }
  float milliseconds() {
    cudaEventRecord(stop_);
    cudaEventSynchronize(stop_);
    float time = 0;
    cudaEventElapsedTime(&time, start_, stop_);
    return time;
  }
  float seconds() { return milliseconds() * 1e-3f; }

 private:
  cudaEvent_t start_, stop_;
};
#endif
