// Declares TmaDescriptor. With nvcc and the driver's header it is CUtensorMap, as in CuTe, so that code can
// pass descriptors that it encodes itself; else Zellige's type.
#pragma once
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__) && __has_include(<cuda.h>)
#include <cuda.h>

#include <zellige/atom/pointer.hpp>

namespace zellige {

using TmaDescriptor = CUtensorMap;

/// Prefetches a descriptor into the descriptor cache; called early in the kernel, by one thread.
ZELLIGE_CALL void prefetch_tma_descriptor(TmaDescriptor const& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

}  // namespace zellige
#else
#include_next <zellige/atom/tma_descriptor.hpp>
#endif
