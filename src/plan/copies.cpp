#include "plan/copies.hpp"

#include <algorithm>

#include "plan/contexts.hpp"
#include "plan/layouts.hpp"

namespace zellige::plan {

Copy widest_copy(const Node& n, const graph::KernelTensor& tensor, int inner) {
  Copy copy;
  const int size = graph::bytes(tensor.dtype);
  copy.bytes = size;
  const auto aligned = [&](std::int64_t v) {
    if (tensor.strides[inner] != 1) return false;
    for (int d = 0; d < static_cast<int>(n.splits.size()); ++d) {
      const Split& s = n.splits[d];
      const std::int64_t unit = d == inner ? 1 : tensor.strides[d];
      const bool moves = s.axis >= 0 || s.loop;  // the tile's start depends on block or iteration
      if (s.offset * unit % v != 0) return false;
      if (moves && s.tile * unit % v != 0) return false;
      if (d != inner && s.tile > 1 && unit % v != 0) return false;
    }
    return true;
  };
  for (int v = 16 / size; v > 1; v /= 2) {
    if (!aligned(v) || n.splits[inner].tile < v) continue;
    copy.vector = v;
    copy.bytes = v * size;
    break;
  }
  copy.async = copy.bytes >= 4;
  return copy;
}

Context copy_context(const graph::KernelTensor& tensor, const Shape& padded, int inner, const Copy& copy) {
  Context c = sweep_context(padded, inner, copy.vector);
  std::stable_sort(c.order.begin() + 1, c.order.end(),
                   [&](int a, int b) { return tensor.strides[a] < tensor.strides[b]; });
  return c;
}

}  // namespace zellige::plan
