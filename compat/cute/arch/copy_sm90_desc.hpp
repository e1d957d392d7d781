// Barriers for copies, and the descriptor of a tensor in global memory.
#pragma once
#include <cute/arch/util.hpp>
#include <zellige/atom/tma_descriptor.hpp>

#if defined(__CUDACC__)
#include <zellige/atom/cluster_names.hpp>

namespace zellige {

/// Brings a descriptor into its cache; by one thread, early.
CUTE_DEVICE void prefetch_tma_descriptor(TmaDescriptor const* map) { prefetch_tma_descriptor(*map); }

}  // namespace zellige
#endif
