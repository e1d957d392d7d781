#include "reference/region.hpp"

namespace zellige::reference {
namespace {

/// A range [from, to) of the linear index over some adjacent dimensions of a shape.
struct Range {
  std::int64_t from, to;
  bool operator==(const Range&) const = default;
};

/// Returns the smallest range of the linear index over dimensions [first, last) that contains `range` and is
/// a box. Writes the origin and extent of that box to `box`.
Range box_around(const graph::Shape& shape, std::size_t first, std::size_t last, const Range& range,
                 TensorRegion& box) {
  std::int64_t below = 1;  // number of elements of the inner dimensions, from d on
  for (std::size_t d = first; d < last; ++d) below *= shape[d];
  std::int64_t a = range.from, b = range.to - 1, base = 0;
  for (std::size_t d = first; d < last; ++d) {
    below /= shape[d];
    const std::int64_t low = a / below, high = b / below;
    box.origin[d] = low, box.extent[d] = high - low + 1;
    if (low == high) {
      a -= low * below, b -= low * below, base += low * below;
      continue;
    }
    for (std::size_t rest = d + 1; rest < last; ++rest) box.origin[rest] = 0, box.extent[rest] = shape[rest];
    return {base + low * below, base + (high + 1) * below};
  }
  return {base, base + 1};
}

}  // namespace

Regrouped regroup(const TensorRegion& r, const graph::Shape& seen, const graph::Shape& from) {
  Regrouped both{whole(seen), whole(from)};
  std::size_t s = 0, f = 0;
  while (s < seen.size() || f < from.size()) {
    // Adjacent dimensions of the two shapes with the same number of elements.
    const std::size_t s0 = s, f0 = f;
    std::int64_t ns = s < seen.size() ? seen[s++] : 1, nf = f < from.size() ? from[f++] : 1;
    while (ns != nf)
      if (ns < nf)
        ns *= seen[s++];
      else
        nf *= from[f++];
    Range range{0, 0};  // from the region's first element in these dimensions to its last
    for (std::size_t d = s0; d < s; ++d) {
      range.from = range.from * seen[d] + r.origin[d];
      range.to = range.to * seen[d] + r.origin[d] + r.extent[d] - 1;
    }
    ++range.to;
    for (Range before{-1, -1}; range != before;) {
      before = range;
      range = box_around(seen, s0, s, range, both.seen);
      range = box_around(from, f0, f, range, both.from);
    }
  }
  return both;
}

}  // namespace zellige::reference
