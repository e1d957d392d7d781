#include "plan/registers.hpp"

#include "plan/contexts.hpp"

namespace zellige::plan {
namespace {

/// How a fragment's values count: element of the instruction, its tile in a unit, unit along N, tile of M, batch.
struct Counts {
  std::int64_t n_tiles, width, units, my_n, my_m, my_b;
  Counts(const Shape& c, const WarpLayout& w, const Instruction& mma) {
    const std::size_t rank = c.size();
    n_tiles = ceil_div(c[rank - 1], mma.n);
    width = n_tiles > 1 ? tiles_in_unit(mma) : 1;
    units = ceil_div(n_tiles, width);
    my_n = ceil_div(units, w.n);
    my_m = ceil_div(ceil_div(c[rank - 2], mma.m), w.m / warps_of(mma));
    my_b = ceil_div(graph::size(Shape(c.begin(), c.end() - 2)), w.b);
  }
};

/// (.., batch, row, column), batches in row-major order; past the last one its first coordinate is past.
Shape element(const Shape& tile, std::int64_t batch, std::int64_t row, std::int64_t column) {
  Shape at(tile.size());
  int d = static_cast<int>(tile.size()) - 1;
  at[d--] = column, at[d--] = row;
  for (; d > 0; --d) at[d] = batch % tile[d], batch /= tile[d];
  if (d == 0) at[0] = batch;
  return at;
}

}  // namespace

WarpLayout warp_coordinate(const WarpLayout& w, int warp) {
  return {
      .b = warp / w.m % w.b, .m = warp % w.m, .n = warp / (w.m * w.b) % w.n, .k = warp / (w.m * w.b * w.n)};
}

RegisterLayout accumulators(const Shape& c, const WarpLayout& w, int slices, const Instruction& mma,
                            int slice) {
  Shape tile = c;
  tile.back() /= slices;
  const Counts count(tile, w, mma);
  const int each = mma.c.layout.value_count();
  WarpLayout issuers = w;  // along M run the warps that issue together
  issuers.m /= warps_of(mma);
  RegisterLayout layout;
  layout.threads = w.count() * 32;
  layout.values = count.my_b * count.my_m * count.my_n * count.width * each;
  layout.at = [=](int thread, int value) {
    const WarpLayout warp = warp_coordinate(issuers, thread / mma.issuers);
    const int in_tile = mma.c.layout(thread % mma.issuers, value % each);
    int rest = value / each;
    const int in_unit = rest % count.width;
    rest /= count.width;
    const int unit = rest % count.my_n * w.n + warp.n;
    rest /= count.my_n;
    const int row = rest % count.my_m * issuers.m + warp.m, batch = rest / count.my_m * w.b + warp.b;
    return element(c, batch, row * mma.m + in_tile % mma.m,
                   (unit * count.width + in_unit) * mma.n + in_tile / mma.m + slice * tile.back());
  };
  return layout;
}

RegisterLayout a_fragments(const Shape& a, const WarpLayout& held, const WarpLayout& w,
                           const Instruction& mma) {
  const Counts count(a, held, mma);
  const int each = mma.a.layout.value_count();
  RegisterLayout layout;
  layout.threads = w.count() * 32;
  layout.values = count.my_b * count.my_m * count.my_n * each;
  layout.at = [=](int thread, int value) {
    const WarpLayout warp = warp_coordinate(w, thread / 32);
    const int in_tile = mma.a.layout(thread % 32, value % each);
    int rest = value / each;
    const int slice = rest % count.my_n * w.k + warp.k;
    rest /= count.my_n;
    const int row = rest % count.my_m * w.m + warp.m, batch = rest / count.my_m * w.b + warp.b;
    return element(a, batch, row * mma.m + in_tile % mma.m, slice * mma.k + in_tile / mma.m);
  };
  return layout;
}

RegisterLayout swept(const Context& c, int threads) {
  Shape chunks = c.domain;
  chunks[c.inner] = (chunks[c.inner] + c.vector - 1) / c.vector;
  const std::int64_t total = graph::size(chunks);
  RegisterLayout layout;
  layout.threads = threads;
  layout.values = ceil_div(total, threads) * c.vector;
  layout.at = [=](int thread, int value) {
    std::int64_t chunk = thread + static_cast<std::int64_t>(value / c.vector) * threads;
    if (chunk >= total) return Shape{};
    Shape at(chunks.size());
    for (int d : c.order) at[d] = chunk % chunks[d], chunk /= chunks[d];
    at[c.inner] = at[c.inner] * c.vector + value % c.vector;
    return at;
  };
  return layout;
}

RegisterLayout registers(const Context& c, int threads, int slice) {
  return c.kind == ContextKind::fragment ? accumulators(c.domain, c.warps, c.slices, *c.row, slice)
                                         : swept(c, threads);
}

}  // namespace zellige::plan
