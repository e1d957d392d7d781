// Computes which bytes of a tensor a TMA box covers, and the position of each of its 16-byte chunks in shared
// memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "zellige/emulate/tma_map.hpp"

namespace zellige::emulate {

/// A contiguous run of bytes of a box: `from` in the tensor, `to` in the box. Bytes outside the tensor are in
/// no run.
struct BoxRun {
  std::uint64_t from;
  std::uint32_t to, bytes;
};

struct Box {
  std::uint32_t bytes = 0;
  // bytes per row, and from row to row; with a swizzle each row begins a new swizzle span
  std::uint32_t line = 0, pitch = 0;
  std::vector<BoxRun> runs;

  /// Position of byte `b` of the box in its tile, before the swizzle.
  std::uint32_t place(std::uint32_t b) const { return b / line * pitch + b % line; }
  /// From the tile's first byte through the box's last.
  std::uint32_t tile_bytes() const { return place(bytes - 1) + 1; }
};

/// The box at the coordinates `at`, elements in order, innermost dimension fastest. `offsets`: im2col's; null
/// with an im2col map: a store.
Box box_of(const TmaMap&, const int* at, const std::uint16_t* offsets);

/// The bytes that a load of the box writes to its tile, row by row: outside the tensor they are zero or NaN,
/// and tf32 elements are rounded (ftz has no effect here). `tensor`: its first byte, before `offset`.
std::vector<unsigned char> loaded(const TmaMap&, const Box&, const unsigned char* tensor);

/// Describes coordinates of a load or store for which an H200 raises an illegal instruction (measured:
/// docs/reference/hardware.md), as one clause; "" if they are valid.
std::string coordinate_error(const TmaMap&, const int* at, bool stores);

/// Swizzled position of the chunk at `offset` of a tile at `address`: bits 4.. are xored with bits 7...
constexpr std::uint32_t swizzled(std::uint32_t address, unsigned swizzle) {
  return address ^ (address >> 3 & ((1u << swizzle) - 1) << 4);
}

}  // namespace zellige::emulate
