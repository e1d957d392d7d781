// Defines the contents of a TMA descriptor (CUtensorMap) made for the emulator.
#pragma once
#include <cstdint>

#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

/// Element types, with the values of CUtensorMapDataType.
enum class Element : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz };

constexpr unsigned element_bytes(Element e) {
  constexpr unsigned bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return bytes[unsigned(e)];
}

/// Operation of a TMA or bulk store on global memory; none: an ordinary store.
enum class Reduction : std::uint8_t { none, add, min, max };

/// A tensor map: the tensor's extents and strides, and the box that a copy moves. Dimension 0 is the
/// innermost.
struct TmaMap {
  static constexpr std::uint32_t mark = 0x7a6c6731;

  std::uint32_t magic = 0;  // `mark`, unless other bytes were passed as a map
  std::uint8_t rank = 0;
  Element element{};
  std::uint8_t swizzle = 0;  // 0: none; 1, 2, 3: within spans of 32, 64, 128 bytes
  bool im2col = false;
  bool nan_fill = false;                // fill elements outside the tensor with NaN, not with zero
  const Region* region = nullptr;       // the tensor; set by the engine at the launch
  std::uint64_t offset = 0;             // byte offset of the map's first element in the tensor
  std::uint64_t stride[4] = {};         // in bytes, of dimensions 1 to 4
  std::uint32_t extent[5] = {};         // in elements, minus one
  std::uint16_t box[5] = {};            // in elements
  std::uint8_t element_stride[5] = {};  // traversal stride per dimension
  // im2col: corners of the bounding box of pixels, for the dimensions between channels (0) and images (the
  // last).
  std::int16_t lower[3] = {}, upper[3] = {};
  std::uint16_t channels = 0, pixels = 0;  // im2col: elements per pixel, pixels per box
};
static_assert(sizeof(TmaMap) <= 128);

}  // namespace zellige::emulate
