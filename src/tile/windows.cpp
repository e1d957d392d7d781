#include "tile/windows.hpp"

#include <algorithm>
#include <numeric>

#include "graph/unfold.hpp"

namespace zellige::tile {
namespace {

using graph::Shape;

/// Returns windows unfolded along a dimension. What the padding borders on has to be the end of the source.
std::optional<Windows> unfolded(Windows w, const graph::Unfold& u, std::size_t dim) {
  if (w.digits[dim].size() > 1) return {};
  const WindowDigit d = w.digits[dim].empty() ? WindowDigit{1, 0, 0} : w.digits[dim][0];
  const auto of = static_cast<std::size_t>(d.dim);
  if (u.padded()) {
    const auto moves = [&](const WindowDigit& other) { return other.dim == d.dim && other.step != 0; };
    std::ptrdiff_t movers = 0;
    for (const auto& all : w.digits) movers += std::ranges::count_if(all, moves);
    if (d.step != 1 || w.origin[of] != 0 || d.extent != w.extents[of] || movers != 1) return {};
  }
  w.origin[of] -= u.before * d.step;
  w.digits[dim] = {{u.windows(d.extent), d.dim, d.step * u.step}};
  w.digits.push_back({{u.size, d.dim, d.step * u.dilation}});
  return w;
}

/// Returns windows in another shape. Digits are shared out from the lowest on, and split where a dimension of the result ends.
std::optional<Windows> reshaped(Windows w, const Shape& result) {
  std::vector<WindowDigit> left;  // the lowest one last
  for (const auto& dim : w.digits) left.insert(left.end(), dim.rbegin(), dim.rend());
  std::erase_if(left, [](const WindowDigit& d) { return d.extent == 1; });
  w.digits.assign(result.size(), {});
  for (std::size_t dim = result.size(); dim-- > 0;)
    for (std::int64_t open = result[dim]; open > 1;) {
      WindowDigit d = left.back();
      left.pop_back();
      if (const std::int64_t part = std::gcd(d.extent, open); part != d.extent) {
        if (part != open) return {};
        left.push_back({d.extent / part, d.dim, d.step * part});
        d.extent = part;
      }
      w.digits[dim].push_back(d);
      open /= d.extent;
    }
  return w;
}

}  // namespace

std::int64_t Windows::coordinate(int dim, const Shape& at) const {
  std::int64_t all = origin[static_cast<std::size_t>(dim)];
  for (std::size_t k = 0; k < at.size(); ++k) {
    std::int64_t rest = at[k];
    for (const WindowDigit& d : digits[k]) {
      const bool top = &d == &digits[k].back();
      const std::int64_t digit = top ? rest : rest % d.extent;
      if (d.dim == dim) all += digit * d.step;
      rest /= d.extent;
    }
  }
  return all;
}

std::optional<std::int64_t> Windows::place(const Shape& at) const {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::int64_t c = coordinate(static_cast<int>(d), at);
    if (c < 0 || c >= extents[d]) return {};
    place += (starts[d] + c) * strides[d];
  }
  return place;
}

Shape Windows::shape() const {
  Shape all;
  for (const auto& dim : digits) {
    all.push_back(1);
    for (const WindowDigit& d : dim) all.back() *= d.extent;
  }
  return all;
}

std::int64_t Windows::offset() const {
  std::int64_t all = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) all += (starts[d] + origin[d]) * strides[d];
  return all;
}

bool Windows::padded(int dim) const {
  const auto of = static_cast<std::size_t>(dim);
  std::int64_t last = origin[of];
  for (const auto& all : digits)
    for (const WindowDigit& d : all)
      if (d.dim == dim) last += (d.extent - 1) * d.step;
  return origin[of] < 0 || last >= extents[of];
}

bool Windows::padded() const {
  for (std::size_t d = 0; d < extents.size(); ++d)
    if (padded(static_cast<int>(d))) return true;
  return false;
}

graph::Strides Windows::units() const {
  graph::Strides all;
  for (const auto& dim : digits) {
    std::int64_t unit = 0;
    for (const WindowDigit& d : dim) unit = std::gcd(unit, step(d));
    all.push_back(dim.empty() ? 1 : !dim.empty() && step(dim[0]) == 1 ? 1 : unit);
  }
  return all;
}

std::int64_t Windows::aligned(int inner) const {
  const auto along = static_cast<std::size_t>(inner);
  if (digits[along].empty() || step(digits[along][0]) != 1 || padded(digits[along][0].dim)) return 1;
  std::int64_t unit = offset();
  bool run = true;  // the digits below are one line of the memory
  std::int64_t line = 1;
  for (const WindowDigit& d : digits[along]) {
    run = run && step(d) == line && !padded(d.dim);
    if (run)
      line *= d.extent;
    else
      unit = std::gcd(unit, step(d));
  }
  for (std::size_t k = 0; k < digits.size(); ++k)
    for (const WindowDigit& d : digits[k])
      if (k != along) unit = std::gcd(unit, step(d));
  return std::gcd(unit, line);
}

std::int64_t Windows::distances() const {
  std::int64_t all = 0;
  for (const auto& dim : digits)
    for (const WindowDigit& d : dim) all += 2 * d.extent * step(d);
  return all;
}

std::int64_t Windows::distance(int dim, std::int64_t at) const {
  std::int64_t all = 0;
  for (const WindowDigit& d : digits[static_cast<std::size_t>(dim)]) {
    const bool top = &d == &digits[static_cast<std::size_t>(dim)].back();
    all += (top ? at : at % d.extent) * step(d);
    at /= d.extent;
  }
  return all;
}

Windows all_of(const Shape& extents, const graph::Strides& strides, const Shape& starts) {
  Windows w{extents, strides, starts, Shape(extents.size(), 0), {}};
  for (std::size_t d = 0; d < extents.size(); ++d) w.digits.push_back({{extents[d], static_cast<int>(d), 1}});
  return w;
}

std::optional<Windows> viewed(const Windows& of, graph::OpKind kind, const graph::Attributes& a, const Shape& result) {
  Windows w = of;
  const auto dim = static_cast<std::size_t>(a.dim);
  switch (kind) {
    case graph::OpKind::permute:
      for (std::size_t d = 0; d < result.size(); ++d) w.digits[d] = of.digits[static_cast<std::size_t>(a.sizes[d])];
      return w;
    case graph::OpKind::reshape:
      return reshaped(of, result);
    case graph::OpKind::unfold:
      return unfolded(of, graph::unfold_of(a), dim);
    case graph::OpKind::slice:
      if (w.digits[dim].empty()) return w;
      if (w.digits[dim].size() > 1) return {};
      w.origin[static_cast<std::size_t>(w.digits[dim][0].dim)] += a.start * w.digits[dim][0].step;
      w.digits[dim][0].extent = a.end - a.start;
      return w;
    case graph::OpKind::expand: {
      const std::size_t more = result.size() - of.digits.size();
      const Shape own = of.shape();
      w.digits.insert(w.digits.begin(), more, {});
      for (std::size_t d = 0; d < result.size(); ++d)
        if (d < more || own[d - more] != result[d]) w.digits[d] = {{result[d], 0, 0}};
      return w;
    }
    default:
      return {};
  }
}

}  // namespace zellige::tile
