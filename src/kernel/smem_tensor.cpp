#include "kernel/smem_tensor.hpp"

#include <algorithm>
#include <numeric>
#include <zellige/layout/algebra/swizzle.hpp>

namespace zellige::kernel {

std::int64_t SmemTensor::address(const Shape& at, std::int64_t part) const {
  std::int64_t element = 0;
  const ValueNode* const first = layout.nodes.data;  // a composed layout is itself, swizzle, offset 0, tile
  const ValueNode* node = first + (swizzled() ? 4 : 1);
  for (std::int64_t i : at) {
    for (int more = node->kids < 0 ? 0 : (node++)->kids - 1; more > 0; --more, ++node)
      element += i % node->s.v * node->d.v, i /= node->s.v;
    element += i * (node++)->d.v;
  }
  if (swizzled()) {
    const algebra::Bits bits = algebra::bits_of({first + 1});
    element ^= (element & bits.y()) >> bits.shift;
  }
  return offset + part * part_step + graph::bytes_of(element, dtype);
}

std::int64_t SmemTensor::span() const {
  const values::View all = layout;
  return chunk_bytes << (swizzled() ? algebra::bits_of(all[0]).bits : 0);
}

int SmemTensor::access_width(int along, int vector, std::int64_t shift) const {
  const std::int64_t line = padded[along];
  if (inner != along || line == 1) return 1;
  const std::int64_t width = std::gcd(std::min(vector, chunk()), shift);
  return static_cast<int>(line < vector ? std::gcd(width, line) : width);
}

Value strided(const Shape& shape, const Strides& strides) {
  Value tile = empty(ValueKind::layout);
  for (std::size_t d = 0; d < shape.size(); ++d) tile.add(mode_node(fixed(shape[d]), {fixed(strides[d])}));
  return tile;
}

Value swizzled(int bits, int base, int shift, const Value& tile) {
  return algebra::make_composed(algebra::swizzle_value({bits, base, shift}), number(0), tile);
}

}  // namespace zellige::kernel
