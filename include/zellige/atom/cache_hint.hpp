// What the L2 cache should do with the lines of an asynchronous copy: the policies that createpolicy makes, as
// the constants that they are.
//
// -DZELLIGE_NO_CACHE_HINTS makes every instruction that takes a hint the one without: Zellige compiles a kernel so whose machine
// code has ptxas's fault (docs/reference/hardware.md). The hints change speed, not results.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

#if defined(ZELLIGE_NO_CACHE_HINTS)
inline constexpr bool cache_hints = false;
#else
inline constexpr bool cache_hints = true;
#endif

enum class CacheHint : uint64_t {
  normal = 0x1000000000000000,
  evict_first = 0x12f0000000000000,  // read once: streams
  evict_last = 0x14f0000000000000,   // read by many: kept
  // CuTe's names of the same.
  EVICT_NORMAL = normal,
  EVICT_FIRST = evict_first,
  EVICT_LAST = evict_last,
};

}  // namespace zellige
