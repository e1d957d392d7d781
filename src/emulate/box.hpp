// Computes which bytes of a tensor a TMA box covers, and where each 16-byte chunk of the box is placed in
// shared memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "zellige/emulate/tma_map.hpp"

namespace zellige::emulate {

/// Contiguous bytes of a box that are inside the tensor: `from` is their byte offset in the tensor, `to`
/// their offset in the box. Bytes of the box outside the tensor are in no BoxRun.
struct BoxRun {
  std::uint64_t from;
  std::uint32_t to, bytes;
};

/// The box that a TMA copy moves, as a sequence of bytes: its rows in order, without gaps.
struct Box {
  std::uint32_t bytes = 0;  // size of the box
  // bytes per row of the innermost dimension, and from row to row in shared memory; with a swizzle, each row
  // starts a new swizzle span
  std::uint32_t line = 0, pitch = 0;
  std::vector<BoxRun> runs;

  /// Returns the byte offset, in the shared memory tile and before the swizzle, of byte `b` of the box.
  std::uint32_t place(std::uint32_t b) const { return b / line * pitch + b % line; }
  /// Returns the size in bytes of the box's tile in shared memory, through the last byte of the box.
  std::uint32_t tile_bytes() const { return place(bytes - 1) + 1; }
};

/// Returns the box at the coordinates `at`: elements in order, innermost dimension fastest. `offsets`: filter
/// offsets of an im2col load; null for tiled maps and for im2col stores.
Box box_of(const TmaMap&, const int* at, const std::uint16_t* offsets);

/// Returns the bytes that a load of the box writes to its tile, row by row. Bytes outside the tensor are zero or NaN,
/// and tf32 elements are rounded; denormals are kept, for the _ftz types too. `tensor`: the tensor's first byte.
std::vector<unsigned char> loaded(const TmaMap&, const Box&, const unsigned char* tensor);

/// Returns what is wrong with the coordinates `at` of a TMA load (or store, if `stores`), as one clause for a
/// message; "" if they are valid. Invalid are those for which an H200 raises an illegal instruction error;
/// docs/reference/hardware.md has the measurements.
std::string coordinate_error(const TmaMap&, const int* at, bool stores);

/// Returns a shared memory address after a swizzle (0 to 3, as in TmaMap): `swizzle` bits from bit 7 on are
/// xored into the bits from bit 4 on.
constexpr std::uint32_t swizzled(std::uint32_t address, unsigned swizzle) {
  return address ^ (address >> 3 & ((1u << swizzle) - 1) << 4);
}

}  // namespace zellige::emulate
