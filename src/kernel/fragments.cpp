#include "kernel/fragments.hpp"

namespace zellige::kernel {
namespace {

/// Axes of the items of an accumulator or A fragment layout: along N (K for A), down M, and batch.
enum FragmentAxis : int { along, down, batch };

/// Appends modes of an instruction's thread-value layout as modes along M or along N (K for A). The instruction's
/// strides are positions in a column-major matrix of `rows` rows.
void append(std::vector<kernel::Mode>& to, const ThreadValue::Mode (&modes)[ThreadValue::max_modes], int rows) {
  for (const ThreadValue::Mode& m : modes)
    if (m.shape != 0)
      to.push_back(m.stride < rows ? kernel::Mode{m.shape, m.stride, down}
                                   : kernel::Mode{m.shape, m.stride / rows, along});
}

/// Number of instruction tiles per warp to cover `columns` columns of C: n units of `width` tiles along N, m tiles
/// along M, and b matrices of the batch.
struct TileCounts {
  std::int64_t width, n, m, b;
  TileCounts(const Shape& c, std::int64_t columns, const WarpLayout& w, const Instruction& mma) {
    const std::int64_t tiles = tile::ceil_div(columns, mma.n);
    width = tiles > 1 ? tiles_in_unit(mma) : 1;
    n = tile::ceil_div(tile::ceil_div(tiles, width), w.n);
    m = tile::ceil_div(tile::ceil_div(c[c.size() - 2], mma.m), w.m / warps_of(mma));
    b = tile::ceil_div(graph::size(Shape(c.begin(), c.end() - 2)), w.b);
  }
};

/// Returns the layout that maps items to coordinates in a tile of shape `domain`, for `batches` matrices of `rows` x
/// `columns` items. Vectors of `vector` items are along the columns. A batch number is a row-major index over the batch
/// dimensions; a number beyond the last matrix has an out-of-bounds coordinate in the first dimension.
Value covered(const Shape& domain, int vector, std::int64_t columns, std::int64_t rows, std::int64_t batches) {
  const int rank = static_cast<int>(domain.size());
  std::vector<kernel::Mode> outer;
  for (int d = rank - 3; d >= 0; --d) {
    outer.push_back({d > 0 ? domain[d] : batches, 1, d});
    batches = tile::ceil_div(batches, domain[d]);
  }
  return bundle(ValueKind::layout, layout({{vector, 1, rank - 1}, {columns / vector, vector, rank - 1}}),
                layout({{rows, 1, rank - 2}}), layout(outer));
}

}  // namespace

bool leaves_operand(const Instruction& from, const Instruction& to) {
  ThreadValue unit = from.c.layout;
  if (const int tiles = tiles_in_unit(from); tiles > 1)
    *std::ranges::find(unit.values, 0, &ThreadValue::Mode::shape) = {tiles, from.n * from.m};
  return unit == to.a.layout;
}

Context accumulators(const Shape& domain, const WarpLayout& w, const Instruction& mma, int slices) {
  const std::int64_t columns = domain.back() / slices;
  const TileCounts count(domain, columns, w, mma);
  const std::int64_t down_once = w.m / warps_of(mma);  // tiles of M that all issuing warps take at a time
  const std::int64_t unit = count.width * mma.n;
  std::vector<kernel::Mode> lanes, values;
  append(lanes, mma.c.layout.threads, mma.m);
  append(values, mma.c.layout.values, mma.m);
  values.insert(values.end(), {{count.width, mma.n, along},
                               {count.n, w.n * unit, along},
                               {count.m, down_once * mma.m, down},
                               {count.b, w.b, batch}});
  const Value warp = layout({{down_once, mma.m, down}, {w.b, 1, batch}, {w.n, unit, along}, {w.k, 0, 0}});
  Context c;
  c.domain = domain;
  c.row = &mma;
  c.share = bundle(ValueKind::layout, bundle(ValueKind::layout, layout(lanes), warp), layout(values),
                   layout({{slices, slices > 1 ? columns : 0, along}}));
  c.tile = covered(domain, c.vector(), slices > 1 ? domain.back() : count.n * w.n * unit, count.m * down_once * mma.m,
                   count.b * w.b);
  return c;
}

Context a_fragments(const Shape& a, const WarpLayout& producer, const WarpLayout& w, const Instruction& mma) {
  const TileCounts count(a, a.back(), producer, mma);
  const std::int64_t down_once = w.m / warps_of(mma),
                     steps = tile::ceil_div(tile::ceil_div(a.back(), mma.k), producer.n);
  std::vector<kernel::Mode> lanes, values;
  append(lanes, mma.a.layout.threads, mma.m);
  append(values, mma.a.layout.values, mma.m);
  values.insert(values.end(),
                {{steps, std::int64_t{w.k} * mma.k, along}, {count.m, down_once * mma.m, down}, {count.b, w.b, batch}});
  const Value warp = layout({{down_once, mma.m, down}, {w.b, 1, batch}, {w.n, 0, 0}, {w.k, mma.k, along}});
  Context c;
  c.domain = a;
  c.row = &mma;
  c.share =
      bundle(ValueKind::layout, bundle(ValueKind::layout, layout(lanes), warp), layout(values), layout({{1, 0, 0}}));
  c.tile = covered(a, c.vector(), steps * w.k * mma.k, count.m * down_once * mma.m, count.b * w.b);
  return c;
}

WarpLayout warps(const Context& c) {
  const std::vector<kernel::Mode> warp = modes(values::View(c.share)[0][1]);
  int threads = 1;  // number of threads that hold one tile
  for (const kernel::Mode& m : modes(values::View(c.share)[0][0])) threads *= static_cast<int>(m.extent);
  const auto of = [&](std::size_t i) { return static_cast<int>(warp[i].extent); };
  return {.b = of(1), .m = of(0) * threads / 32, .n = of(2), .k = of(3)};
}

bool covers(const Context& c, const Shape& padded) {
  return c.items(along) >= padded.back() && c.items(down) >= padded[padded.size() - 2];
}

Context lines(const Context& c) {
  const values::View share = c.share, tile = c.tile;
  const int last = c.rank() - 1;
  const auto without_columns = [](std::vector<kernel::Mode> modes) {
    for (kernel::Mode& m : modes)
      if (m.basis == along) m.stride = 0;
    return layout(modes);
  };
  std::vector<kernel::Mode> values{{1, 1, along}};
  for (const kernel::Mode& m : modes(share[1]))
    if (m.basis != along) values.push_back(m);
  const Value threads = c.row ? bundle(ValueKind::layout, without_columns(modes(share[0][0])),
                                       without_columns(modes(share[0][1])))  // lanes and warps
                              : without_columns(modes(share[0]));
  Context rows;
  rows.of = c.row;
  rows.domain = c.domain;
  rows.domain[last] = 1;
  rows.share = bundle(ValueKind::layout, threads, layout(values), layout({{1, 0, 0}}));
  rows.tile = bundle(ValueKind::layout, layout({{1, 1, last}, {1, 1, last}}), layout(modes(tile[down])));
  if (c.row) rows.tile.add(layout(modes(tile[batch])));
  return rows;
}

int line_of(const Context& c, int value) {
  std::int64_t line = 0, times = 1;
  for (const kernel::Mode& m : modes(values::View(c.share)[1])) {
    if (m.basis != along) line += value % m.extent * times, times *= m.extent;
    value /= static_cast<int>(m.extent);
  }
  return static_cast<int>(line);
}

bool whole_lines(const Context& c) {
  if (c.row) return c.holders() == 1 && c.parts() == 1;
  return c.axes() == 2 && c.inner() == c.rank() - 1 && c.items(along) == c.domain.back() && c.lanes() > 1 &&
         c.parts() == 1;
}

bool lines_of(const Context& rows, const Context& c) { return rows.replicated() && whole_lines(c) && lines(c) == rows; }

bool whole_pairs(const Context& c) {
  const int rank = c.rank();
  return c.row && c.holders() == 1 && rank > 2 && c.domain[rank - 3] % 2 == 0 && warps(c).b == 1;
}

int other_of_pair(const Context& c, int value) {
  const auto matrix = static_cast<int>(c.values() / modes(values::View(c.share)[1]).back().extent);
  return (value / matrix ^ 1) * matrix + value % matrix;
}

WarpLayout warp_coordinate(const WarpLayout& w, int warp) {
  return {.b = warp / w.m % w.b, .m = warp % w.m, .n = warp / (w.m * w.b) % w.n, .k = warp / (w.m * w.b * w.n)};
}

}  // namespace zellige::kernel
