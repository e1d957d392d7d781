// Defines the shared-memory swizzles of TMA and wgmma, which permute 16-byte chunks so that accesses along rows and
// along columns both avoid bank conflicts. The swizzle of 32, 64 or 128 bytes changes the 1, 2 or 3 address bits that
// begin at bit 4: each is XORed with the bit three places above it.
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

/// Swizzle of a shared-memory tile, named by the length of its row in bytes. The values are those of
/// CUtensorMapSwizzle.
enum class SwizzleMode : uint8_t { none = 0, b32 = 1, b64 = 2, b128 = 3 };

/// Returns the length in bytes of a row of the swizzle pattern: 32, 64 or 128, or 16 for SwizzleMode::none.
ZELLIGE_ANYWHERE constexpr unsigned swizzle_span(SwizzleMode mode) { return 16u << static_cast<unsigned>(mode); }
/// Returns the byte address to which the swizzle moves byte `address`. The pattern repeats every 8 *
/// swizzle_span(mode) bytes. SwizzleMode::none returns `address`.
ZELLIGE_ANYWHERE constexpr unsigned swizzled(SwizzleMode mode, unsigned address) {
  return address ^ (address >> 3 & ((1u << static_cast<unsigned>(mode)) - 1) << 4);
}

}  // namespace zellige
