#include "kernel/context.hpp"

#include <algorithm>
#include <bit>

#include "kernel/fragments.hpp"

namespace zellige::kernel {
namespace {

bool is_mode(const ValueNode& n) { return n.kids < 0; }
Mode mode(const ValueNode& n) { return {n.s.v, n.d.v, n.e == 0 ? 0 : path_index(n.e, 0)}; }
/// Returns the first of modes(layout).
Mode first(values::View layout) { return mode(*std::ranges::find_if(layout, is_mode)); }

bool same(const Value& a, const Value& b) {
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [](const ValueNode& x, const ValueNode& y) {
                      return x.kids == y.kids && x.s.v == y.s.v && x.d.v == y.d.v && x.e == y.e;
                    });
}

std::int64_t size(values::View layout) {
  std::int64_t n = 1;
  for (const Mode& m : modes(layout)) n *= m.extent;
  return n;
}

/// Returns the product of the extents of those modes of `layout` for which which(mode, below) is true. `below` is the
/// product of the extents of all modes before the mode.
template <class Which>
std::int64_t product(values::View layout, const Which& which) {
  std::int64_t n = 1, below = 1;
  for (const Mode& m : modes(layout)) {
    if (which(m, below)) n *= m.extent;
    below *= m.extent;
  }
  return n;
}

/// Returns whether a step along the layout's mode `m` changes the number of the work item (element) along `axis`.
bool moves(const Mode& m, int axis) { return m.stride != 0 && m.basis == axis; }

/// Returns the modes that enumerate the coordinates of `shape`, with the last dimension fastest. The extent of
/// dimension 0 is not that of the shape, but the smallest one with which there are at least `cover` coordinates.
std::vector<Mode> rows(const Shape& shape, std::int64_t cover) {
  std::vector<Mode> result;
  for (int d = static_cast<int>(shape.size()) - 1; d > 0; --d) {
    result.push_back({shape[d], 1, d});
    cover = tile::ceil_div(cover, shape[d]);
  }
  if (!shape.empty()) result.push_back({cover, 1, 0});
  return result;
}

/// Returns the modes of a layout without those of extent 1, and with each mode merged into the one before if it
/// continues that one along the same basis: 4:2 and 8:8 are 32:2.
std::vector<Mode> merged(values::View layout) {
  std::vector<Mode> all;
  for (const Mode& m : modes(layout)) {
    if (m.extent == 1) continue;
    const bool continues = !all.empty() && (m.stride == 0 ? all.back().stride == 0
                                                          : m.basis == all.back().basis &&
                                                                m.stride == all.back().extent * all.back().stride);
    if (continues)
      all.back().extent *= m.extent;
    else
      all.push_back(m.stride == 0 ? Mode{m.extent, 0, 0} : m);
  }
  return all;
}

}  // namespace

std::vector<Mode> modes(values::View layout) {
  std::vector<Mode> result;
  result.reserve(std::ranges::count_if(layout, is_mode));
  for (const ValueNode& n : layout)
    if (is_mode(n)) result.push_back(mode(n));
  return result;
}

Value layout(const std::vector<Mode>& modes) {
  Value all = empty(ValueKind::layout);
  for (const Mode& m : modes)
    all.add(m.stride == 0  // 0 along any basis is the same
                ? mode_node(dynamic(m.extent), {fixed(0)})
                : mode_node(dynamic(m.extent), {dynamic(m.stride), extend(0, m.basis)}));
  return modes.empty() ? unit() : modes.size() == 1 ? all[0] : all;
}

int Context::inner() const { return first(values::View(tile)[0]).basis; }
int Context::vector() const { return static_cast<int>(first(values::View(share)[1]).extent); }
int Context::threads() const { return static_cast<int>(size(values::View(share)[0])); }
std::int64_t Context::values() const { return size(values::View(share)[1]); }
int Context::repeats() const { return static_cast<int>(size(values::View(share)[2])); }
std::int64_t Context::items(int axis) const { return size(values::View(tile)[axis]); }

std::int64_t Context::steps(int axis) const {
  return product(values::View(share)[1], [&](const Mode& m, std::int64_t) { return moves(m, axis); }) /
         (axis == 0 ? vector() : 1);
}
int Context::holders() const {
  return static_cast<int>(product(values::View(share)[0], [](const Mode& m, std::int64_t) { return m.stride == 0; }));
}
int Context::lanes() const {
  return static_cast<int>(
      product(values::View(share)[0], [](const Mode& m, std::int64_t below) { return moves(m, 0) && below < 32; }));
}
int Context::lane_step() const {
  std::int64_t below = 1;
  for (const Mode& m : modes(values::View(share)[0])) {
    if (m.extent > 1 && (m.stride == 0 || moves(m, 0))) return below < 32 ? static_cast<int>(below) : 1;
    below *= m.extent;
  }
  return 1;
}
int Context::parts() const {
  return static_cast<int>(
      product(values::View(share)[0], [](const Mode& m, std::int64_t below) { return moves(m, 0) && below >= 32; }));
}

bool Context::operator==(const Context& other) const {
  return domain == other.domain && row == other.row && same(share, other.share) && same(tile, other.tile);
}

bool have_equal_modes(const Context& a, const Context& b) {
  if (a.rank() != b.rank() || a.axes() != b.axes()) return false;
  for (int part = 0; part < 3; ++part)
    if (merged(values::View(a.share)[part]) != merged(values::View(b.share)[part])) return false;
  for (int axis = 0; axis < a.axes(); ++axis)
    if (a.items(axis) != b.items(axis) || merged(values::View(a.tile)[axis]) != merged(values::View(b.tile)[axis]))
      return false;
  return true;
}

Context blocked_layout(const Shape& domain, const std::vector<int>& order, int vector, int threads) {
  Context c;
  c.domain = domain;
  std::vector<Mode> tile{{vector, 1, order.front()}};
  std::int64_t chunks = 1;
  for (int d : order) {
    const std::int64_t step = d == order.front() ? vector : 1;
    tile.push_back({tile::ceil_div(domain[d], step), step, d});
    chunks *= tile.back().extent;
  }
  c.tile = bundle(ValueKind::layout, layout(tile));
  c.share = bundle(ValueKind::layout, layout({{threads, vector, 0}}),
                   layout({{vector, 1, 0}, {tile::ceil_div(chunks, threads), std::int64_t{threads} * vector, 0}}),
                   layout({{1, 0, 0}}));
  return c;
}

Context blocked_layout(const Shape& domain, int inner, int vector, int threads) {
  return blocked_layout(domain, inner_first(domain, inner), vector, threads);
}

std::vector<int> inner_first(const Shape& shape, int inner) {
  std::vector<int> order{inner};
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d)
    if (d != inner) order.push_back(d);
  return order;
}

Context summands(const Summation& s) {
  Context c;
  c.domain = s.domain;
  const std::int64_t sums = graph::size(s.sums), line = std::int64_t{s.lanes} * s.splits * s.vector;
  c.tile = bundle(ValueKind::layout, layout({{s.vector, s.to, s.dim}, {s.length / s.vector, s.to * s.vector, s.dim}}),
                  layout(rows(s.sums, sums)));
  c.share = bundle(
      ValueKind::layout,
      layout({{s.lanes, s.vector, 0}, {s.splits, std::int64_t{s.lanes} * s.vector, 0}, {s.groups, 1, 1}}),
      layout(
          {{s.vector, 1, 0}, {tile::ceil_div(s.length, line), line, 0}, {tile::ceil_div(sums, s.groups), s.groups, 1}}),
      layout({{1, 0, 0}}));
  return c;
}

Summation spread(Summation s, bool together, std::int64_t threads) {
  const auto floor_power = [](std::int64_t n) {
    return static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(n)));
  };
  const std::int64_t sums = graph::size(s.sums);
  if (together && s.dim == static_cast<int>(s.domain.size()) - 1 && s.to == 1)
    for (s.vector = max_elements_per_step; s.vector > 1 && (s.length % s.vector != 0 || s.length / s.vector < 4);
         s.vector /= 2) {
    }
  const std::int64_t steps = s.length / s.vector;
  while (s.lanes < 32 && sums * s.lanes < threads && s.lanes * 2 <= steps) s.lanes *= 2;
  if (s.lanes == 32 && sums * 64 <= threads)
    s.splits = std::min({8, floor_power(threads / (sums * 32)), floor_power(std::max<std::int64_t>(1, steps / 32))});
  s.groups = static_cast<int>(threads / (s.lanes * s.splits));
  return s;
}

bool inside(const Shape& at, const Shape& shape) {
  bool in = at.size() == shape.size();
  for (std::size_t d = 0; in && d < shape.size(); ++d) in = at[d] < shape[d];
  return in;
}

std::int64_t linear(const Shape& at, const Shape& shape) {
  std::int64_t index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
  return index;
}

Shape factor(const Shape& at, int side) {
  Shape result(at.begin(), at.end() - 1);
  result[result.size() - 1 - side] = at.back();
  return result;
}

std::string print(const Context& c) {
  if (c.row) {
    const WarpLayout w = warps(c);
    return fmt::format("accumulators of {} under warps {}x{}x{} (batch, M, N){}", graph::to_string(c.domain), w.b, w.m,
                       w.n, c.repeats() > 1 ? fmt::format(", {} slices of N", c.repeats()) : "");
  }
  if (c.replicated()) return fmt::format("rows of {}, each in {} lanes", graph::to_string(c.domain), c.holders());
  if (c.axes() == 1)
    return fmt::format("blocked layout of {} by {} along dimension {}", graph::to_string(c.domain), c.vector(),
                       c.inner());
  return fmt::format("{} lanes{} a line of {} in {}, by {}", c.lanes(),
                     c.parts() > 1 ? fmt::format(" in each of {} warps", c.parts()) : "", c.items(0),
                     graph::to_string(c.domain), c.vector());
}

}  // namespace zellige::kernel
