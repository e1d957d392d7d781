// The permutation of the 16-byte chunks of shared memory by TMA and WGMMA, with which rows and columns both
// avoid bank conflicts: address bits 4.. are xored with bits 7... The values are those of CUtensorMapSwizzle.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

enum class SwizzleMode : uint8_t { none = 0, b32 = 1, b64 = 2, b128 = 3 };

/// The bytes per row of the swizzle pattern: 16 (none), 32, 64 or 128.
ZELLIGE_ANYWHERE constexpr unsigned swizzle_span(SwizzleMode mode) {
  return 16u << static_cast<unsigned>(mode);
}
/// The swizzled address of the byte at `address`. Source bits 7, 8, 9; the pattern repeats every 8 spans.
ZELLIGE_ANYWHERE constexpr unsigned swizzled(SwizzleMode mode, unsigned address) {
  return address ^ (address >> 3 & ((1u << static_cast<unsigned>(mode)) - 1) << 4);
}

}  // namespace zellige
