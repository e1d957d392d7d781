// What the L2 cache should do with the lines of an asynchronous copy: the policies that createpolicy makes, as
// the constants that they are.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

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
