// Which bytes of a tensor a TMA box is, and where each of its 16-byte chunks lies in shared memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "zellige/emulate/tma_map.hpp"

namespace zellige::emulate {

/// A run of bytes of a box: `from` in the tensor, `to` in the box; nothing is said of what lies outside.
struct BoxRun {
  std::uint64_t from;
  std::uint32_t to, bytes;
};

struct Box {
  std::uint32_t bytes = 0;
  std::uint32_t line = 0, pitch = 0;  // bytes; with a swizzle each line begins a span, however short it is
  std::vector<BoxRun> runs;

  /// Where byte `b` of the box lies in its tile, before the swizzle.
  std::uint32_t place(std::uint32_t b) const { return b / line * pitch + b % line; }
  /// From the tile's first byte to the box's last.
  std::uint32_t tile_bytes() const { return place(bytes - 1) + 1; }
};

/// The box at the coordinates `at`, elements in order, the innermost dimension fastest. `offsets`: im2col's;
/// null where the map is im2col: a store.
Box box_of(const TmaMap&, const int* at, const std::uint16_t* offsets);

/// What a load of the box puts into its tile, line after line: outside it is zero or NaN, and what is
/// declared tf32 is rounded (ftz changes nothing here). `tensor`: its first byte, before `offset`.
std::vector<unsigned char> loaded(const TmaMap&, const Box&, const unsigned char* tensor);

/// What an H200 ends in an illegal instruction for, of a load's or a store's coordinates (measured:
/// docs/reference/hardware.md), as one clause; "" if it takes them.
std::string coordinate_error(const TmaMap&, const int* at, bool stores);

/// Where the chunk at `offset` of a tile at `address` lies: bits 4.. are xored with bits 7...
constexpr std::uint32_t swizzled(std::uint32_t address, unsigned swizzle) {
  return address ^ (address >> 3 & ((1u << swizzle) - 1) << 4);
}

}  // namespace zellige::emulate
