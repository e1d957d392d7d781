// Computes where in shared memory wgmma reads an operand's element, from the operand's descriptor. The emulator
// uses it, and the tests compare the hardware with it. smem_descriptor.hpp describes the descriptor's fields.
//
//   gmma_address(descriptor, /*mn_major=*/false, /*element_bytes=*/2, row, k)      // a byte address
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

/// Returns the descriptor's swizzle as in SwizzleMode: 0 for none, and 1, 2, 3 for 32, 64, 128 bytes. (In the
/// descriptor itself, 1 means 128 bytes and 3 means 32 bytes.)
constexpr unsigned gmma_swizzle(uint64_t descriptor) { return (4 - (descriptor >> 62 & 3)) % 4; }

/// Returns the number by which the emulator identifies the tensor for which the descriptor was made, or 0 if the
/// tensor is unknown. In descriptors on a GPU, these bits are 0.
constexpr uint16_t gmma_tensor(uint64_t descriptor) { return descriptor >> 52 & 0x3ff; }

/// Returns the byte address in shared memory of element (mn, k) of the operand, where mn is the row of A or the
/// column of B. The tile consists of layout atoms of 8 rows, which extend along the operand's major dimension. A row
/// has 32, 64 or 128 bytes with a swizzle, 16 bytes without. The swizzle XORs up to three address bits from bit 7 on
/// into the bits from bit 4 on.
constexpr uint32_t gmma_address(uint64_t descriptor, bool mn_major, unsigned element_bytes, unsigned mn, unsigned k) {
  const uint32_t start = (descriptor & 0x3fff) << 4;
  const uint32_t leading = (descriptor >> 16 & 0x3fff) << 4, stride = (descriptor >> 32 & 0x3fff) << 4;
  const unsigned swizzle = gmma_swizzle(descriptor), span = 16u << swizzle;
  uint32_t at = start;
  if (!mn_major) {
    const unsigned byte = k * element_bytes;
    at += mn / 8 * stride + mn % 8 * span + (swizzle ? byte : byte / 16 * leading + byte % 16);
  } else {
    const unsigned byte = mn * element_bytes;
    at +=
        byte / span * (swizzle ? leading : stride) + k / 8 * (swizzle ? stride : leading) + k % 8 * span + byte % span;
  }
  return at ^ (at >> 3 & ((1u << swizzle) - 1) << 4);
}

}  // namespace zellige
