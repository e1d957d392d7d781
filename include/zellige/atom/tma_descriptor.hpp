// Defines TmaDescriptor, the 128 bytes that describe a tensor in global memory to TMA (CUtensorMap). The host makes one
// (make_tma_descriptor.hpp); a kernel has it as a parameter and passes it to the TMA calls:
//
//   __global__ void kernel(const __grid_constant__ TmaDescriptor map) {
//     ... tma_load_2d(tile, map, bar, x, y); ...
//   }
#pragma once

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/pointer.hpp>
#endif
#endif

namespace zellige {

/// A TMA descriptor: opaque bytes with the size and alignment of CUtensorMap.
struct alignas(64) TmaDescriptor {
  unsigned char bytes[128];
};

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
/// Prefetches the descriptor into the descriptor cache, so that the first TMA instruction does not wait for it. Called
/// by one thread at the start of a kernel.
ZELLIGE_CALL void prefetch_tma_descriptor(const TmaDescriptor& map) {
#if defined(ZELLIGE_EMULATE)
  emulate::check_tma_descriptor(&map);
#else
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
#endif
}
#endif

}  // namespace zellige
