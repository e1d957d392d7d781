#include "emulate/box.hpp"

#include <algorithm>
#include <cstring>

namespace zellige::emulate {

namespace {

// Returns true if the index x is inside a tensor's dimension whose last index is `last`.
bool inside(std::int64_t x, std::uint32_t last) { return x >= 0 && x <= std::int64_t(last); }

// Adds a row of `count` elements to a TMA box, from index `start` of the innermost dimension; `base` is the
// byte offset of index 0 in the tensor.
void add_line(const TmaMap& map, std::int64_t start, unsigned count, std::uint64_t base, Box& box) {
  const unsigned size = element_bytes(map.element);
  const std::int64_t first = std::max<std::int64_t>(start, 0),
                     last = std::min<std::int64_t>(start + count, std::int64_t(map.extent[0]) + 1);
  if (first < last)
    box.runs.push_back({base + std::uint64_t(first) * size, box.bytes + std::uint32_t(first - start) * size,
                        std::uint32_t(last - first) * size});
  box.bytes += count * size;
}

// Returns an empty TMA box with rows of `count` elements.
Box lines_of(const TmaMap& map, unsigned count) {
  Box box;
  box.line = count * element_bytes(map.element);
  box.pitch = map.swizzle ? 16u << map.swizzle : box.line;
  return box;
}

// Returns the box of a tiled TMA map at the coordinates `at`.
Box tiled(const TmaMap& map, const int* at) {
  unsigned count[5] = {map.box[0], 1, 1, 1, 1};
  for (unsigned d = 1; d < map.rank; ++d) count[d] = (map.box[d] + map.element_stride[d] - 1) / map.element_stride[d];
  Box box = lines_of(map, count[0]);
  unsigned i[5] = {};
  for (;;) {
    std::uint64_t base = map.offset;
    bool in = true;
    for (unsigned d = 1; d < map.rank; ++d) {
      const std::int64_t x = at[d] + std::int64_t(i[d]) * map.element_stride[d];
      in = in && inside(x, map.extent[d]);
      base += std::uint64_t(x) * map.stride[d - 1];
    }
    if (in)
      add_line(map, at[0], count[0], base, box);
    else
      box.bytes += count[0] * element_bytes(map.element);
    unsigned d = 1;
    for (; d < map.rank && ++i[d] == count[d]; ++d) i[d] = 0;
    if (d >= map.rank) return box;
  }
}

// Returns the box of an im2col map. Its pixels follow one another from the base coordinates `at` on,
// innermost dimension first, within the bounding box of each image, and then in the next image. `offsets`
// (filter offsets, null for stores) shift the pixels that are read, not this order.
Box im2col(const TmaMap& map, const int* at, const std::uint16_t* offsets) {
  Box box = lines_of(map, map.channels);
  const unsigned pixel_dims = map.rank - 2u;
  std::int64_t p[3], n = at[map.rank - 1];
  for (unsigned d = 0; d < pixel_dims; ++d) p[d] = at[d + 1];
  for (unsigned i = 0; i < map.pixels; ++i) {
    std::uint64_t base = map.offset;
    bool in = inside(n, map.extent[map.rank - 1]);
    base += std::uint64_t(n) * map.stride[map.rank - 2];
    for (unsigned d = 0; d < pixel_dims; ++d) {
      const std::int64_t x = p[d] + (offsets ? offsets[d] : 0);
      in = in && inside(x, map.extent[d + 1]);
      base += std::uint64_t(x) * map.stride[d];
    }
    if (in)
      add_line(map, at[0], map.channels, base, box);
    else
      box.bytes += map.channels * element_bytes(map.element);
    unsigned d = 0;
    for (; d < pixel_dims; ++d) {
      p[d] += map.element_stride[d + 1];
      if (p[d] <= std::int64_t(map.extent[d + 1]) + map.upper[d]) break;
      p[d] = map.lower[d];
    }
    if (d == pixel_dims) n += map.element_stride[map.rank - 1];
  }
  return box;
}

// Rounds a float to tf32 (10 bits of fraction), to nearest, ties to even; every NaN becomes the same NaN.
std::uint32_t tf32(std::uint32_t x) {
  if ((x & 0x7fffffff) > 0x7f800000) return 0x7fffe000;
  return (x + 0xfff + (x >> 13 & 1)) & ~0x1fffu;
}

}  // namespace

std::vector<unsigned char> loaded(const TmaMap& map, const Box& box, const unsigned char* tensor) {
  std::vector<unsigned char> data(box.bytes);
  if (map.nan_fill)
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = i % 2 ? 0x7f : 0xf7;
  const bool rounds = map.element == Element::tf32 || map.element == Element::tf32_ftz;
  for (const BoxRun& run : box.runs) {
    std::memcpy(&data[run.to], tensor + run.from, run.bytes);
    for (std::uint32_t i = 0; rounds && i < run.bytes; i += 4) {
      std::uint32_t x;
      std::memcpy(&x, &data[run.to + i], 4);
      x = tf32(x);
      std::memcpy(&data[run.to + i], &x, 4);
    }
  }
  return data;
}

std::string coordinate_error(const TmaMap& map, const int* at, bool stores) {
  const auto s = [](std::int64_t x) { return std::to_string(x); };
  if (const std::int64_t byte = std::int64_t(at[0]) * element_bytes(map.element); byte % 16)
    return "coordinate 0 is " + s(at[0]) + ", byte " + s(byte) + " of its line; it must be a multiple of 16 bytes";
  for (int d = 0; stores && d < map.rank; ++d)
    if (at[d] < 0) return "coordinate " + s(d) + " is " + s(at[d]) + "; a store's must not be negative";
  for (int d = 0; stores && map.im2col && d < map.rank - 2; ++d)
    if (map.lower[d] < 0 || map.upper[d] > 0)
      return "the box of pixels begins " + s(map.lower[d]) + " from the first and ends " + s(map.upper[d]) +
             " from the last of dimension " + s(d + 1) + "; a store's must lie inside: at least 0 and at most 0";
  return {};
}

Box box_of(const TmaMap& map, const int* at, const std::uint16_t* offsets) {
  return map.im2col ? im2col(map, at, offsets) : tiled(map, at);
}

}  // namespace zellige::emulate
