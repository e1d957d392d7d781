// A tensor map as the emulator's TMA reads it: the bytes of a TmaDescriptor made for the CPU.
#pragma once
#include <cstdint>

#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

/// The numbers of CUtensorMapDataType.
enum class Element : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz
};

constexpr unsigned element_bytes(Element e) {
  constexpr unsigned bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return bytes[unsigned(e)];
}

enum class Reduction : std::uint8_t { none, add, min, max };

struct TmaMap {
  static constexpr std::uint32_t mark = 0x7a6c6731;

  std::uint32_t magic = 0;  // `mark`: detects other bytes passed as a map
  std::uint8_t rank = 0;
  Element element{};
  std::uint8_t swizzle = 0;  // 0 none, 1, 2, 3: 32, 64, 128 bytes
  bool im2col = false;
  bool nan_fill = false;
  const Region* region = nullptr;  // the engine's, from the launch on
  std::uint64_t offset = 0;        // of the map's first element in the tensor's bytes
  std::uint64_t stride[4] = {};    // bytes, of dimensions 1 to 4
  std::uint32_t extent[5] = {};    // elements, less one
  std::uint16_t box[5] = {};
  std::uint8_t element_stride[5] = {};
  // im2col: the box of pixels' corners for the dimensions between the channels and the images.
  std::int16_t lower[3] = {}, upper[3] = {};
  std::uint16_t channels = 0, pixels = 0;
};
static_assert(sizeof(TmaMap) <= 128);

}  // namespace zellige::emulate
