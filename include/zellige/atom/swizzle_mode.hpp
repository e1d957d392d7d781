// Defines the shared-memory swizzles of TMA and wgmma, which permute 16-byte chunks so that accesses along rows and
// along columns both avoid bank conflicts. The swizzle of 32, 64 or 128 bytes xors 1, 2 or 3 address bits from bit 4
// on with those from bit 7 on.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

/// Swizzle of a shared-memory tile, by its row in bytes. Same values as CUtensorMapSwizzle.
enum class SwizzleMode : uint8_t { none = 0, b32 = 1, b64 = 2, b128 = 3 };

/// Returns the bytes per row of the swizzle pattern: 16 (none), 32, 64 or 128.
ZELLIGE_ANYWHERE constexpr unsigned swizzle_span(SwizzleMode mode) {
  return 16u << static_cast<unsigned>(mode);
}
/// Returns the byte address to which the swizzle moves byte `address`. The pattern repeats every
/// 8 * swizzle_span(mode) bytes; none returns `address`.
ZELLIGE_ANYWHERE constexpr unsigned swizzled(SwizzleMode mode, unsigned address) {
  return address ^ (address >> 3 & ((1u << static_cast<unsigned>(mode)) - 1) << 4);
}

}  // namespace zellige
