#include "emulate/box.hpp"

#include <algorithm>

namespace zellige::emulate {

namespace {

// Elements of a dimension that are inside: the box's i-th lies at `start` + i * `step`.
bool inside(std::int64_t x, std::uint32_t last) { return x >= 0 && x <= std::int64_t(last); }

// One line of the innermost dimension.
void add_line(const TmaMap& map, std::int64_t start, unsigned count, unsigned step, std::uint64_t base,
              Box& box) {
  const unsigned size = element_bytes(map.element);
  if (step == 1) {
    const std::int64_t first = std::max<std::int64_t>(start, 0),
                       last = std::min<std::int64_t>(start + count, std::int64_t(map.extent[0]) + 1);
    if (first < last)
      box.runs.push_back({base + std::uint64_t(first) * size, box.bytes + std::uint32_t(first - start) * size,
                          std::uint32_t(last - first) * size});
  } else {
    for (unsigned i = 0; i < count; ++i)
      if (const std::int64_t x = start + std::int64_t(i) * step; inside(x, map.extent[0]))
        box.runs.push_back({base + std::uint64_t(x) * size, box.bytes + i * size, size});
  }
  box.bytes += count * size;
}

Box tiled(const TmaMap& map, const int* at) {
  Box box;
  unsigned count[5] = {1, 1, 1, 1, 1};
  for (unsigned d = 0; d < map.rank; ++d)
    count[d] = (map.box[d] + map.element_stride[d] - 1) / map.element_stride[d];
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
      add_line(map, at[0], count[0], map.element_stride[0], base, box);
    else
      box.bytes += count[0] * element_bytes(map.element);
    unsigned d = 1;
    for (; d < map.rank && ++i[d] == count[d]; ++d) i[d] = 0;
    if (d >= map.rank) return box;
  }
}

// Pixels in order from the base coordinates on, through the bounding box of each image: the innermost pixel
// dimension first. The offsets shift what is read, not where the walk goes.
Box im2col(const TmaMap& map, const int* at, const std::uint16_t* offsets) {
  Box box;
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
      add_line(map, at[0], map.channels, map.element_stride[0], base, box);
    else
      box.bytes += map.channels * element_bytes(map.element);
    unsigned d = 0;
    for (; d < pixel_dims; ++d) {
      p[d] += map.element_stride[d + 1];
      if (p[d] <= std::int64_t(map.extent[d + 1]) + map.upper[d]) break;
      p[d] = map.lower[d];
    }
    if (d == pixel_dims) ++n;
  }
  return box;
}

}  // namespace

Box box_of(const TmaMap& map, const int* at, const std::uint16_t* offsets) {
  return map.im2col ? im2col(map, at, offsets) : tiled(map, at);
}

}  // namespace zellige::emulate
