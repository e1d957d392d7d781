// Which tiles of matmuls are tried for a group of operators.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "candidate/kernel.hpp"
#include "candidate/split_extent.hpp"
#include "candidate/tiles.hpp"
#include "graph/error.hpp"
#include "graph/infer.hpp"
#include "rewrite/lay_out.hpp"
#include "selection/layouts.hpp"
#include "target/instructions.hpp"
#include "target/pipe.hpp"
#include "target/products.hpp"
#include "tiling/matmul_shapes.hpp"

namespace zellige::candidate {
namespace {

using retile::MatmulTile;

constexpr std::ptrdiff_t fastest = 32;  // tiles of a matmul by itself that are tried with split loops, too
constexpr std::int64_t line = 128;      // bytes along K that a swizzle covers
constexpr std::size_t on_cores = 32;    // tiles of FMA units
constexpr std::size_t refined = 10;     // tiles of which all extents along K are tried, and equal parts

/// Returns the strides of `batch` matrices of rows x columns that are contiguous along the rows' elements, or along the
/// columns' if `across`. The other stride is such that lines begin at multiples of 16 bytes, or do not, as `lines` says.
graph::Strides strides(const graph::Shape& shape, bool across, bool lines, graph::DType dtype) {
  const std::size_t rank = shape.size();
  const std::int64_t length = shape[rank - (across ? 2 : 1)], count = shape[rank - (across ? 1 : 2)];
  const std::int64_t unit = graph::elements_in(kernel::chunk_bytes, dtype);
  const std::int64_t line = lines ? tile::ceil_div(length, unit) * unit : length % unit == 0 ? length + 1 : length;
  graph::Strides s(rank, line * count);
  s[rank - 1] = across ? line : 1, s[rank - 2] = across ? 1 : line;
  return s;
}

/// Returns a graph of one matmul of this size.
graph::KernelGraph product(const tiling::MatmulSize& size) {
  graph::KernelGraph g;
  const auto shape = [&](bool batched, std::int64_t rows, std::int64_t columns) {
    graph::Shape s{rows, columns};
    if (size.batch > 1) s.insert(s.begin(), batched ? size.batch : 1);
    return s;
  };
  const graph::Shape a = shape(size.a_batched, size.m, size.k), b = shape(size.b_batched, size.k, size.n);
  g.name = "product";
  g.tensors = {{size.dtype, a, strides(a, !size.a_along_k, size.lines, size.dtype), "A"},
               {size.dtype, b, strides(b, size.b_along_k, size.lines, size.dtype), "B"},
               {size.dtype, {}, {}, "C"}};
  g.inputs = {0, 1}, g.outputs = {2};
  graph::KernelOp op{.kind = graph::OpKind::matmul, .inputs = {0, 1}, .outputs = {2}};
  op.attributes.tf32 = size.tf32;
  g.ops.push_back(std::move(op));
  return graph::infer(std::move(g));
}

/// Returns the size of a matmul of loaded operands.
tiling::MatmulSize size_of(const graph::KernelGraph& g, const GroupSteps& s, const GroupStep& step,
                           const target::Target& target) {
  const StepValue &a = s.values[step.inputs[0]], &b = s.values[step.inputs[1]];
  const graph::Shape& out = s.values[step.output].shape;
  tiling::MatmulSize size{.m = from_last(out, 1), .n = from_last(out, 0), .k = a.shape.back(), .dtype = a.dtype};
  size.tf32 = step.attributes.tf32;
  size.batch = graph::size(out) / (size.m * size.n);
  size.a_batched = graph::size(a.shape) == size.batch * size.m * size.k;
  size.b_batched = graph::size(b.shape) == size.batch * size.k * size.n;
  const std::int64_t unit = graph::elements_in(target.access_bytes, a.dtype);
  for (const auto& [value, along_k, last] : {std::tuple{&a, &size.a_along_k, 1}, {&b, &size.b_along_k, 2}}) {
    const graph::KernelTensor& t = g.tensors[value->tensor];
    const graph::Strides laid_out = t.strides.empty() ? graph::row_major(t.shape) : t.strides;
    if (t.shape.size() < 2) continue;
    if (rewrite::shows_windows(g, value->tensor)) size.lines = false;  // no box of TMA has their elements
    *along_k = selection::innermost(t.shape, laid_out) == static_cast<int>(t.shape.size()) - last;
    // Others are read from copies with aligned lines, if that is faster (lower/align.hpp).
    for (std::size_t d = 0; d < t.shape.size(); ++d)
      if (graph::bits(t.dtype) > 16 && t.shape[d] > 1 && laid_out[d] != 1 && laid_out[d] % unit != 0)
        size.lines = false;
  }
  return size;
}

/// Returns the instruction by which warpgroups multiply such tiles; nullptr: warps do, or threads.
const Instruction* of_warpgroups(const MatmulTile& t, const tiling::MatmulSize& size, const target::Target& target) {
  const std::string_view type = target::multiplied_as(size.dtype, size.tf32);
  const Instruction* row = target::find_warpgroup_mma(target, type, type, "f32", static_cast<int>(t.n));
  const bool takes_lines = row && ((size.a_along_k && size.b_along_k) || !target::only_along_k(*row));
  return takes_lines && size.lines && t.m % row->m == 0 ? row : nullptr;
}

/// Times in cycles by which tiles are compared before any is sketched: of a kernel, and of two between which K is split.
struct RoughCycles {
  double whole = 0, split = 0;
};

/// Returns these times of a tile: the reads of the L2 cache, the multiplications of the busiest multiprocessor, and its
/// latencies.
RoughCycles rough_cycles(const MatmulTile& t, const tiling::MatmulSize& size, const target::Target& target) {
  const target::Costs& costs = target.costs;
  const auto quotient = [](std::int64_t a, std::int64_t b) { return static_cast<double>(tile::ceil_div(a, b)); };
  const std::int64_t rows = t.swap_ab ? size.n : size.m, columns = t.swap_ab ? size.m : size.n;
  const double blocks = static_cast<double>(size.batch) * quotient(rows, t.m) * quotient(columns, t.n),
               waves = std::ceil(blocks / target.multiprocessors), k = static_cast<double>(size.k);
  const std::string_view type = target::multiplied_as(size.dtype, size.tf32);
  const Instruction *bulk = of_warpgroups(t, size, target), *warp = target::find_mma(target, type, type, "f32");
  constexpr int lanes = 128;  // of a multiprocessor, each of which multiplies once a cycle
  const double per_cycle = bulk   ? bulk->m * bulk->n * bulk->k / bulk->cycles * costs.sustained
                           : warp ? 4 * warp->m * warp->n * warp->k / target::cycles(*warp, costs)
                                  : lanes;
  const double l2 = blocks * static_cast<double>(graph::bytes_of((t.m + t.n) * size.k, size.dtype)) /
                    (bulk ? costs.l2_bulk : costs.l2) * costs.clock;
  const double multiplies = waves * static_cast<double>(t.m * t.n) * k / per_cycle;
  const double barriers = quotient(size.k, t.k) * costs.barrier;
  // Blocks that are too few share K, and another launch adds their results.
  const double split = std::min(std::floor(target.multiprocessors / blocks), quotient(size.k, t.k));
  return {std::max(l2, multiplies) + costs.load + barriers,
          split < 2
              ? std::numeric_limits<double>::infinity()
              : std::max(l2, multiplies / split) + 2 * costs.load + barriers / split + costs.next * costs.clock * 1000};
}

/// Returns one of each set of tiles that differ along K only, and of these the best by rough_cycles(), as one kernel and
/// as two. For warpgroups it is the one of lines of 128 bytes, otherwise that with the longest K of two iterations at least,
/// of which two stages have at most `stages` bytes.
std::vector<MatmulTile> one_of_each(const std::vector<MatmulTile>& all, const tiling::MatmulSize& size,
                                    const target::Target& target) {
  constexpr std::int64_t stages = 48 * 1024;
  constexpr std::size_t as_one = 48, as_two = 24;
  std::vector<MatmulTile> result;
  for (const MatmulTile& t : all) {
    const auto known = std::ranges::find_if(result, [&](MatmulTile of) { return of.k = t.k, of == t; });
    const bool bulk = of_warpgroups(t, size, target);
    if (known == result.end())
      result.push_back(t);
    else if (bulk ? graph::bytes_of(t.k, size.dtype) == line
                  : t.k > known->k && 2 * t.k <= size.k && 2 * graph::bytes_of((t.m + t.n) * t.k, size.dtype) <= stages)
      *known = t;
  }
  std::vector<std::pair<RoughCycles, MatmulTile>> rated;
  for (const MatmulTile& t : result) rated.emplace_back(rough_cycles(t, size, target), t);
  std::ranges::stable_sort(rated, {}, [](const auto& r) { return r.first.whole; });
  if (rated.size() > as_one)
    std::ranges::stable_sort(rated.begin() + as_one, rated.end(), {}, [](const auto& r) { return r.first.split; });
  result.resize(std::min(rated.size(), as_one + as_two));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = rated[i].second;
  return result;
}

/// Returns the tile of equal parts that are not larger; along K they are halves, or whole lines of 128
/// bytes.
MatmulTile in_equal_parts(MatmulTile t, const tiling::MatmulSize& size) {
  const auto part = [](std::int64_t extent, std::int64_t limit) {
    const std::int64_t n = parts(extent, extent, limit);
    return is_odd(extent, n, limit) ? limit : extent / n;
  };
  if (t.swap_ab) return t;
  t.m = part(size.m, t.m), t.n = part(size.n, t.n);
  const std::int64_t k = part(size.k, t.k);
  if (k * 2 >= size.k ||
      graph::bytes_of(k, size.dtype) % (size.dtype == graph::DType::f32 && size.lines ? line / 2 : line) == 0)
    t.k = k;
  return t;
}

/// Returns tiles for which the target has instructions, by the expected time of the matmul by itself, the least first:
/// first one of each set that differs along K only, then all of the fastest sets, and their equal parts.
std::vector<MatmulTile> search(const tiling::MatmulSize& size, const target::Target& target) {
  const std::vector<MatmulTile> all = tiling::matmul_shapes(size, target);
  const graph::KernelGraph g = product(size);
  std::vector<GroupKernel> found;
  const auto sketch = [&](const std::vector<MatmulTile>& tiles) {
    if (tiles.empty())
      fault("no tile of a matmul of {} x {} x {} is known for {}", size.m, size.n, size.k, target.name);
    std::string why;
    std::ranges::move(kernels_of(g, {0}, target, why, tiles), std::back_inserter(found));
    std::ranges::stable_sort(found, {}, &GroupKernel::us);
  };
  const std::vector<MatmulTile> first = one_of_each(all, size, target);
  sketch(first);
  std::vector<MatmulTile> more;
  const bool few = all.size() <= on_cores;  // they are tried in all ways
  for (std::size_t i = 0; i < (few ? found.size() : std::min(refined, found.size())); ++i)
    for (const MatmulTile& t : all) {
      MatmulTile of = *found[i].shape;
      if (of.k = t.k, of != t) continue;
      for (const MatmulTile& tile : {t, in_equal_parts(t, size)})
        if (std::ranges::count(first, tile) + std::ranges::count(more, tile) == 0) more.push_back(tile);
    }
  if (!more.empty()) sketch(more);
  std::vector<MatmulTile> result;
  for (const GroupKernel& k : found)
    if (std::ranges::count(result, *k.shape) == 0) result.push_back(*k.shape);
  return result.empty() ? all : result;
}

/// Returns the tiles that search() finds. Sizes that were asked for before are answered from a table of the process.
const std::vector<MatmulTile>& ranked(const tiling::MatmulSize& size, const target::Target& target) {
  static std::mutex mutex;
  static std::map<std::pair<std::string_view, tiling::MatmulSize>, std::vector<MatmulTile>> known;
  const std::pair<std::string_view, tiling::MatmulSize> key{target.name, size};
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  std::vector<MatmulTile> tiles = search(size, target);
  const std::lock_guard lock(mutex);
  return known.emplace(key, std::move(tiles)).first->second;
}

/// Returns the tiles that are tried for several matmuls.
std::vector<MatmulTile> chain_shapes_of(const GroupSteps& s, const std::vector<const GroupStep*>& products,
                                        const target::Target& target) {
  bool fma = false;
  int width = 1;
  std::set<std::int64_t> rows;
  for (const GroupStep* p : products) {
    const graph::DType dtype = s.values[p->inputs[0]].dtype;
    const std::string_view type = target::multiplied_as(dtype, p->attributes.tf32);
    const Instruction* row = target::find_mma(target, type, type, graph::name(graph::DType::f32));
    fma = fma || (dtype == graph::DType::f32 && !row);
    if (row) width = std::max(width, row->a.bits / 16);
    rows.insert(from_last(s.values[p->output].shape, 1));
  }
  return tiling::chain_shapes(rows.size() == 1 ? *rows.begin() : 0, fma, width);
}

/// Returns the tiles that are tried in a group with other steps: the fastest, at most two that differ along K only. At most
/// ten have A and B swapped, and ten have not, since the other steps may prefer either.
std::vector<MatmulTile> with_others(const std::vector<MatmulTile>& all) {
  constexpr std::size_t tried = 16;
  constexpr std::ptrdiff_t each = 10, along_k = 2;
  std::vector<MatmulTile> result;
  for (const MatmulTile& t : all)
    if (result.size() < tried && std::ranges::count(result, t.swap_ab, &MatmulTile::swap_ab) < each &&
        std::ranges::count_if(result, [&](MatmulTile of) { return of.k = t.k, of == t; }) < along_k)
      result.push_back(t);
  return result;
}

}  // namespace

MatmulTiles shapes_of(const graph::KernelGraph& g, const GroupSteps& s, const target::Target& target) {
  std::vector<const GroupStep*> products;
  for (const GroupStep& step : s.steps)
    if (is_matmul(step)) products.push_back(&step);
  if (products.empty()) return {};
  const auto loads = [&](const GroupStep* p) { return s.values[p->inputs[0]].loaded && s.values[p->inputs[1]].loaded; };
  if (products.size() > 1 || !loads(products[0])) return {chain_shapes_of(s, products, target)};
  const std::vector<MatmulTile>& all = ranked(size_of(g, s, *products[0], target), target);
  if (s.steps.size() == 1) return {{all.begin(), all.begin() + std::min(fastest, std::ssize(all))}, true};
  MatmulTiles tried{with_others(all), true};
  // What reduces the result's rows prefers tiles that are not the fastest by themselves.
  if (std::ranges::any_of(s.steps, [](const GroupStep& step) { return is_reduction(step.kind); }))
    for (const MatmulTile& t : chain_shapes_of(s, products, target))
      if (std::ranges::count(tried.tiles, t) == 0) tried.tiles.push_back(t);
  return tried;
}

}  // namespace zellige::candidate
