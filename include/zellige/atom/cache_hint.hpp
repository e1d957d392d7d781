// CacheHint: the L2 cache policies of asynchronous copies, as the 64-bit constants that PTX createpolicy
// returns.
//
// -DZELLIGE_NO_CACHE_HINTS removes the policy from every instruction that has one. Zellige recompiles a kernel
// this way if its machine code has a known ptxas bug (docs/reference/hardware.md). The policies change speed,
// not results.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

/// True if copies with a CacheHint pass it to the hardware.
#if defined(ZELLIGE_NO_CACHE_HINTS)
inline constexpr bool cache_hints = false;
#else
inline constexpr bool cache_hints = true;
#endif

enum class CacheHint : uint64_t {
  normal = 0x1000000000000000,
  evict_first = 0x12f0000000000000,  // for data that is read once
  evict_last = 0x14f0000000000000,   // for data that is read many times
  // CuTe's names.
  EVICT_NORMAL = normal,
  EVICT_FIRST = evict_first,
  EVICT_LAST = evict_last,
};

}  // namespace zellige
