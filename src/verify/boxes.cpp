#include "verify/boxes.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace zellige::verify {
namespace {

/// A dimension of more than one element.
struct BoxMode {
  std::int64_t extent, stride;
  std::size_t dim;
};

/// Returns the dimensions of more than one element, the smallest strides first.
std::vector<BoxMode> modes_of(const Shape& shape, const Strides& strides) {
  std::vector<BoxMode> all;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1) all.push_back({shape[d], strides[d], d});
  std::ranges::stable_sort(all, {}, &BoxMode::stride);
  return all;
}

/// Joins dimensions of which one continues the other.
std::vector<BoxMode> joined(const std::vector<BoxMode>& all) {
  std::vector<BoxMode> result;
  for (const BoxMode& m : all)
    if (!result.empty() && m.stride == result.back().extent * result.back().stride)
      result.back().extent *= m.extent;
    else
      result.push_back(m);
  return result;
}

std::int64_t address_of(const Shape& at, const Strides& strides) {
  return std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0});
}

Shape extents_of(const CoordinateBox& box) {
  Shape extents;
  std::ranges::transform(box.high, box.low, std::back_inserter(extents), std::minus());
  return extents;
}

/// Returns the highest address of a box that has elements.
std::int64_t last_address(const CoordinateBox& box, const Strides& strides) {
  return address_of(box.low, strides) + graph::span(extents_of(box), strides) - 1;
}

}  // namespace

CoordinateBox whole(const Shape& shape) { return {Shape(shape.size(), 0), shape}; }

std::int64_t size(const CoordinateBox& b) {
  std::int64_t all = 1;
  for (std::size_t d = 0; d < b.low.size(); ++d) all *= std::max<std::int64_t>(b.high[d] - b.low[d], 0);
  return all;
}

bool intersect(const CoordinateBox& a, const CoordinateBox& b) {
  for (std::size_t d = 0; d < a.low.size(); ++d)
    if (std::max(a.low[d], b.low[d]) >= std::min(a.high[d], b.high[d])) return false;
  return true;
}

bool covered(CoordinateBox target, std::span<const CoordinateBox> others) {
  if (size(target) == 0 || std::ranges::find(others, target) != others.end()) return true;
  for (; !others.empty(); others = others.subspan(1)) {
    const CoordinateBox& b = others.front();
    CoordinateBox common = target;
    for (std::size_t d = 0; d < b.low.size(); ++d)
      common.low[d] = std::max(target.low[d], b.low[d]), common.high[d] = std::min(target.high[d], b.high[d]);
    if (!intersect(target, b)) continue;
    for (std::size_t d = 0; d < b.low.size(); ++d) {  // what lies before and after the common part
      CoordinateBox before = target, after = target;
      before.high[d] = target.low[d] = common.low[d], after.low[d] = target.high[d] = common.high[d];
      if (!covered(std::move(before), others.subspan(1)) || !covered(std::move(after), others.subspan(1))) return false;
    }
    return true;
  }
  return false;
}

std::optional<CoordinateBox> in_base(const CoordinateBox& box, const KernelTensor& of, const KernelTensor& base) {
  std::int64_t address = address_of(box.low, of.strides);
  CoordinateBox result{Shape(base.shape.size(), 0), Shape(base.shape.size(), 1)};
  std::vector<BoxMode> modes = modes_of(base.shape, base.strides);
  for (auto m = modes.rbegin(); m != modes.rend(); ++m) {
    if (m->stride < 1) return std::nullopt;
    result.low[m->dim] = address / m->stride, address %= m->stride;
    result.high[m->dim] = result.low[m->dim] + 1;
    if (result.high[m->dim] > m->extent) return std::nullopt;
  }
  if (address != 0) return std::nullopt;
  for (BoxMode left : joined(modes_of(extents_of(box), of.strides))) {  // a dimension may go on in the base's next one
    for (const BoxMode& m : modes) {
      const std::int64_t first = result.low[m.dim];
      if (left.extent == 1 || m.stride != left.stride) continue;
      if (result.high[m.dim] != first + 1) return std::nullopt;
      if (first + left.extent <= m.extent) {
        result.high[m.dim] = first + left.extent, left.extent = 1;
      } else if (first == 0 && left.extent % m.extent == 0) {
        result.high[m.dim] = m.extent, left = {left.extent / m.extent, m.stride * m.extent, 0};
      }
    }
    if (left.extent > 1) return std::nullopt;
  }
  return result;
}

bool lies_in(const CoordinateBox& box, const KernelTensor& of, const KernelTensor& base) {
  const std::vector<BoxMode> modes = joined(modes_of(base.shape, base.strides));
  std::vector<std::int64_t> last(modes.size(), 0);  // the largest coordinate along each of the base's modes
  std::int64_t address = address_of(box.low, of.strides);
  for (std::size_t m = modes.size(); m-- > 0;) {
    if (modes[m].stride < 0) return false;
    if (modes[m].stride == 0) continue;  // the elements of its coordinate 0
    last[m] = address / modes[m].stride, address %= modes[m].stride;
  }
  if (address != 0) return false;
  for (const BoxMode& mode : modes_of(extents_of(box), of.strides)) {
    std::size_t m = modes.size();
    while (m > 0 && modes[m - 1].stride > mode.stride) --m;
    if (mode.stride == 0) continue;
    if (m == 0 || modes[m - 1].stride == 0 || mode.stride % modes[m - 1].stride != 0) return false;
    last[m - 1] += (mode.extent - 1) * (mode.stride / modes[m - 1].stride);
  }
  for (std::size_t m = 0; m < modes.size(); ++m)
    if (last[m] >= modes[m].extent) return false;
  return true;
}

bool disjoint(const CoordinateBox& box, const KernelTensor& of, const CoordinateBox& other,
              const KernelTensor& other_of, const KernelTensor& base) {
  if (size(box) == 0 || size(other) == 0) return true;
  if (&of == &other_of) return !intersect(box, other);
  if (last_address(box, of.strides) < address_of(other.low, other_of.strides) ||
      last_address(other, other_of.strides) < address_of(box.low, of.strides))
    return true;
  const auto in = [](const CoordinateBox& one, const KernelTensor& from, const KernelTensor& to) {
    return &from == &to ? std::optional(one) : in_base(one, from, to);
  };
  for (const KernelTensor* to : {&base, &other_of})
    if (const std::optional<CoordinateBox> a = in(box, of, *to), b = in(other, other_of, *to);
        a && b && !intersect(*a, *b))
      return true;
  return false;
}

}  // namespace zellige::verify
