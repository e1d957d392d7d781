// The address of an operand's element in shared memory, from its WGMMA descriptor: the definition that the
// emulator uses, the tests check and the hardware is compared with. smem_descriptor.hpp has the fields.
//
//   gmma_address(descriptor, /*mn_major=*/false, /*element_bytes=*/2, row, k)      // a byte address
#pragma once

#include <zellige/atom/config.hpp>

namespace zellige {

/// 0 none, 1, 2, 3: 32, 64, 128 bytes, as in SwizzleMode; the descriptor's encoding is reversed.
constexpr unsigned gmma_swizzle(uint64_t descriptor) { return (4 - (descriptor >> 62 & 3)) % 4; }

/// On the emulator: the number of the tensor of which the descriptor was made; 0 if unknown.
constexpr uint16_t gmma_tensor(uint64_t descriptor) { return descriptor >> 52 & 0x3ff; }

/// Operand A: mn is the row m; B: the column n. Rows of the swizzle's span run along the major dimension;
/// eight rows are an atom. Without a swizzle an atom is 8 rows of 16 bytes. The swizzle permutes chunks by
/// the address itself.
constexpr uint32_t gmma_address(uint64_t descriptor, bool mn_major, unsigned element_bytes, unsigned mn,
                                unsigned k) {
  const uint32_t start = (descriptor & 0x3fff) << 4;
  const uint32_t leading = (descriptor >> 16 & 0x3fff) << 4, stride = (descriptor >> 32 & 0x3fff) << 4;
  const unsigned swizzle = gmma_swizzle(descriptor), span = 16u << swizzle;
  uint32_t at = start;
  if (!mn_major) {
    const unsigned byte = k * element_bytes;
    at += mn / 8 * stride + mn % 8 * span + (swizzle ? byte : byte / 16 * leading + byte % 16);
  } else {
    const unsigned byte = mn * element_bytes;
    at += byte / span * (swizzle ? leading : stride) + k / 8 * (swizzle ? stride : leading) + k % 8 * span +
          byte % span;
  }
  return at ^ (at >> 3 & ((1u << swizzle) - 1) << 4);
}

}  // namespace zellige
