// Makes the shared-memory descriptor of a wgmma operand: a 64-bit word with the tile's start address, two strides in
// bytes (leading and stride) and the swizzle mode. The table shows, by the tile's major order and swizzle, which
// distances to pass as the two strides for a tile written by TMA, and by how much to advance the address for the next
// 32 bytes of K. A span is a row of the swizzle, of 32, 64 or 128 bytes.
//
//   order  swizzle     leading: distance between       stride: distance between               next 32 bytes of K
//   K      32,64,128   (ignored)                       groups of 8 rows: 8 * span             + 32
//   K      none        16-byte columns along K         groups of 8 rows                       + 2 * leading
//   MN     32,64,128   spans along M or N              groups of 8 values of k: 8 * span      + 2 * stride
//   MN     none        groups of 8 values of k         groups of 8 values of M or N           + 2 * leading
//
//   uint64_t a = smem_descriptor(tile, 0, 1024, SwizzleMode::b128);   // 64 half_t per row, K-major
//   wgmma<half_t>(d, advance(a, 32), b);                              // a's next 32 bytes of K: k = 16 to 31
//
// A tile with a swizzle begins at a multiple of 8 spans (1024 bytes for b128).
#pragma once

#include <zellige/atom/pointer.hpp>
#include <zellige/atom/swizzle_mode.hpp>

namespace zellige {

/// Returns the descriptor as a 64-bit word. Bits 0-13 hold the start address, 16-29 the leading stride and 32-45 the
/// stride, all in units of 16 bytes; the arguments are in bytes. Bits 62-63 hold the swizzle: 0 none, 1 128 bytes, 2
/// 64 bytes, 3 32 bytes.
ZELLIGE_ANYWHERE constexpr uint64_t smem_descriptor_bits(unsigned address, unsigned leading, unsigned stride,
                                                         SwizzleMode mode) {
  const uint64_t kind = (4 - static_cast<unsigned>(mode)) % 4;
  return (address >> 4 & 0x3fffu) | static_cast<uint64_t>(leading >> 4 & 0x3fffu) << 16 |
         static_cast<uint64_t>(stride >> 4 & 0x3fffu) << 32 | kind << 62;
}

/// Returns the descriptor of the tile at address `tile` in shared memory. `leading` and `stride` are the two strides
/// in bytes, multiples of 16; the table at the top of this header says which distances they are for each major order
/// and swizzle. On the emulator, the descriptor also names the tensor to which the tile belongs, so that accesses can
/// be checked.
ZELLIGE_CALL uint64_t smem_descriptor(any_pointer tile, unsigned leading, unsigned stride, SwizzleMode mode) {
#if defined(ZELLIGE_EMULATE)
  emulate::check_descriptor("the leading stride", leading);
  emulate::check_descriptor("the stride", stride);
  return smem_descriptor_bits(emulate::smem_address(tile), leading, stride, mode) | emulate::tensor_bits(tile);
#else
  return smem_descriptor_bits(smem_address(tile), leading, stride, mode);
#endif
}

/// Returns the descriptor with its start address advanced by `bytes`, a multiple of 16.
ZELLIGE_ANYWHERE constexpr uint64_t advance(uint64_t descriptor, unsigned bytes) {
#if defined(ZELLIGE_EMULATE)
  if (!__builtin_is_constant_evaluated()) emulate::check_descriptor("the step", bytes);
#endif
  return descriptor + (bytes >> 4);
}

}  // namespace zellige
