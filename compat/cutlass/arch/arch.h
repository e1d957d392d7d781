// CUTLASS's architecture tags (Sm80, Sm90, ...), by which code selects kernels, and the lane and SM indices.
#pragma once
#if __has_include_next(<cutlass/arch/arch.h>)
#include_next <cutlass/arch/arch.h>
#else
#include <cutlass/arch/config.h>
#include <cutlass/cutlass.h>

namespace cutlass::arch {

/// An architecture by its compute capability times 10.
template <int capability>
struct Architecture {
  static constexpr int kMinComputeCapability = capability;
};
struct Sm50 : Architecture<50> {};
struct Sm60 : Architecture<60> {};
struct Sm61 : Architecture<61> {};
struct Sm70 : Architecture<70> {};
struct Sm72 : Architecture<72> {};
struct Sm75 : Architecture<75> {};
struct Sm80 : Architecture<80> {};
struct Sm86 : Architecture<86> {};
struct Sm89 : Architecture<89> {};
struct Sm90 : Architecture<90> {};

#if defined(__CUDACC__)
/// Returns this thread's index in its warp.
CUTLASS_DEVICE int LaneId() {
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
/// Returns the index of the multiprocessor that runs this block.
CUTLASS_DEVICE int SmId() {
  int sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}
#endif

}  // namespace cutlass::arch
#endif
