// TmaDescriptor. Where nvcc compiles and the driver's header is there it is the driver's CUtensorMap, as in
// CuTe: code that encodes its descriptors itself passes them on.
#pragma once
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__) && __has_include(<cuda.h>)
#include <cuda.h>

#include <zellige/atom/pointer.hpp>

namespace zellige {

using TmaDescriptor = CUtensorMap;

/// Brings the descriptor into its cache; by one thread, early.
ZELLIGE_CALL void prefetch_tma_descriptor(TmaDescriptor const& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

}  // namespace zellige
#else
#include_next <zellige/atom/tma_descriptor.hpp>
#endif
