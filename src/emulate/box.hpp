// Which bytes of a tensor a TMA box is, and where each of its 16-byte chunks lies in shared memory.
#pragma once
#include <cstdint>
#include <functional>
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
  std::vector<BoxRun> runs;
};

/// The box at the coordinates `at`, elements in order, the innermost dimension fastest. `offsets`: im2col's;
/// null where the map is im2col: a store.
Box box_of(const TmaMap&, const int* at, const std::uint16_t* offsets);

/// Where the chunk at `offset` of a tile at `address` lies: bits 4.. are xored with bits 7...
constexpr std::uint32_t swizzled(std::uint32_t address, unsigned swizzle) {
  return address ^ (address >> 3 & ((1u << swizzle) - 1) << 4);
}

}  // namespace zellige::emulate
