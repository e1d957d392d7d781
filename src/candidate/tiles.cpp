#include "candidate/tiles.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "candidate/split_extent.hpp"
#include "selection/row_registers.hpp"
#include "target/instructions.hpp"
#include "tiling/matmul_shapes.hpp"

namespace zellige::candidate {
namespace {

/// Returns whether a tiling has fewer than `wanted` blocks per multiprocessor.
bool leaves_gpu_idle(const GroupTiling& t, const target::Target& target, double wanted) {
  return static_cast<double>(t.blocks()) < wanted * target.multiprocessors;
}

constexpr std::int64_t row_tile = 2048;  // elements of a reduction that a loop loads per iteration

/// A group, the axis that its loop runs along, and what its tilings are chosen by.
struct TiledGroup {
  const GroupSteps& steps;
  const Axes& axes;
  int loop_axis;   // -1: no loop
  int split_axis;  // an axis that blocks split though a step reduces over it; -1: none
  const target::Target& target;
  const MatmulTiles& shapes;
  bool products = std::ranges::any_of(steps.steps, is_matmul);  // the group has matmuls
  std::vector<GridAxes> may_split = grid_axes(steps, axes);     // what the grid may split
  std::vector<std::size_t> readers{};  // by value, if tiles read once need no shared memory; else empty

  TiledGroup(const GroupSteps& s, const Axes& a, int loop, int split, const target::Target& t, const MatmulTiles& m)
      : steps(s), axes(a), loop_axis(loop), split_axis(split), target(t), shapes(m) {
    if (!products && loop < 0) readers = readers_of(s);
    if (split >= 0) may_split.push_back({{split}, whole(split), whole(split), -1});
  }

  std::int64_t whole(int axis) const { return axes.axes[axis].extent; }
  /// Returns the extent of the loop axis, or 0 without a loop.
  std::int64_t loop_extent() const { return loop_axis < 0 ? 0 : whole(loop_axis); }

  /// Returns the largest extent of a tile along the axes `c`, where `mn` is the tile (m, n) of a matmul: m if an axis is
  /// the rows of a matmul, n if it is the columns, 1 if it is a batch dimension.
  std::int64_t cap(const GridAxes& c, std::pair<std::int64_t, std::int64_t> mn) const {
    bool rows = false, columns = false;
    // Matmuls per block if no grid dimension may split their batches: their columns count together.
    std::int64_t together = 1;
    for (const GroupStep& s : steps.steps)
      if (is_matmul(s)) {
        const std::vector<int>& of = axes.of[s.output];
        for (int axis : c.axes) rows = rows || of[of.size() - 2] == axis, columns = columns || of.back() == axis;
        std::int64_t batches = 1;
        for (std::size_t d = 0; d + 2 < of.size(); ++d)
          if (of[d] >= 0 && axes.axes[of[d]].whole) batches *= whole(of[d]);
        together = std::max(together, batches);
      }
    return rows ? mn.first : columns ? std::max<std::int64_t>(1, mn.second / together) : 1;
  }

  /// Returns the extent of the loop axis rounded up to iterations of at most `k`.
  std::int64_t padded_loop(std::int64_t k) const {
    const std::int64_t trip_count = tile::ceil_div(loop_extent(), k);
    return trip_count * (is_column(loop_axis) ? rounded(tile::ceil_div(loop_extent(), trip_count)) : k);
  }

  /// Returns whether the axis is the columns of some matmul's result, as keys are the columns of scores.
  bool is_column(int axis) const {
    return std::ranges::any_of(steps.steps,
                               [&](const GroupStep& s) { return is_matmul(s) && axes.of[s.output].back() == axis; });
  }

  /// Returns how many elements along the loop axis a block has per iteration.
  std::int64_t along_loop() const { return loop_axis < 0 ? 1 : std::min(whole(loop_axis), row_tile); }
  /// Returns, for each value, how many elements a block would have per iteration if all axes that the grid may split had
  /// extent 1.
  std::vector<std::int64_t> unsplit_sizes() const {
    std::vector<std::int64_t> sizes(steps.values.size(), along_loop());
    const auto is_split = [&](int axis) {
      return std::ranges::any_of(may_split, [&](const GridAxes& c) { return std::ranges::count(c.axes, axis) > 0; });
    };
    for (std::size_t v = 0; v < sizes.size(); ++v)
      for (int axis : axes.of[v])
        if (axis >= 0 && axis != loop_axis && !is_split(axis)) sizes[v] *= whole(axis);
    return sizes;
  }
  /// Returns whether the value has a dimension along an axis of `c`.
  bool has(int value, const GridAxes& c) const {
    return std::ranges::any_of(c.axes, [&](int axis) { return axes.has(value, axis); });
  }

  /// Returns the loop axis's extent rounded up so that equal iterations cover it, if the axis has no divisor
  /// near the tile `row_tile`. Otherwise, or without a loop, returns 0.
  std::int64_t padded_row_loop() const {
    const std::int64_t n = loop_extent();
    if (n == 0 || 2 * (n / parts(n, n, row_tile)) >= std::min(row_tile, n)) return 0;
    const std::int64_t trip_count = tile::ceil_div(n, row_tile);
    return trip_count * rounded(tile::ceil_div(n, trip_count));
  }

  /// Returns whether no step needs a dimension of its own: the group consists of elementwise operators.
  bool elementwise() const {
    return std::ranges::none_of(axes.axes, [](const Axis& axis) { return axis.summed || axis.whole; });
  }
  /// Returns the number of threads of a block for tiles of `elements` elements.
  int threads_of(std::int64_t elements) const {
    if (elements > 2048) return 256;
    if (!elementwise() || may_split.empty()) return 128;
    return elements <= 64 * std::gcd(width(), std::ranges::min(may_split, {}, &GridAxes::back).largest) ? 64 : 128;
  }
  /// Returns how many elements a thread accesses at once at most: 16 bytes of the narrowest loaded tensor.
  std::int64_t width() const {
    int bits = 32;
    for (const StepValue& v : steps.values)
      if (v.loaded) bits = std::min(bits, graph::bits(v.dtype));
    return 8 * target.access_bytes / bits;
  }
  /// Returns how often some thread of a block accesses a tensor, summed over all blocks, if tiles have `tile` elements
  /// along an axis of extent `extent`, times `size` elements along faster axes. `elements`: elements of a block.
  std::int64_t accesses(std::int64_t extent, std::int64_t tile, std::int64_t size, std::int64_t elements) const {
    const std::int64_t at_once = threads_of(elements) * (size == 1 ? std::gcd(width(), tile) : width());
    return (extent + tile - 1) / tile * ((tile * size + at_once - 1) / at_once);
  }

  /// Returns into how many equal tiles of at most `limit` elements to split the axes `c` in a group without matmuls. Along
  /// the last dimension tiles are aligned to accesses if possible.
  std::int64_t equal_parts(const GridAxes& c, std::int64_t limit) const {
    return c.back == 0 && c.shared == c.largest && !elementwise() ? parts_of_row(c.largest, limit, width())
                                                                  : parts(c.largest, c.shared, limit);
  }

  /// Returns the tile along the axes `c` for a group without matmuls, if the last tile may be partial. A tile has at most
  /// `limit` elements, times `size` along faster axes. Equal tiles are preferred, unless they have few elements, as those
  /// of a prime extent, or, in an elementwise group, leave many threads idle.
  std::int64_t tile_along(const GridAxes& c, std::int64_t limit, std::int64_t size, std::int64_t elements) const {
    const std::int64_t equal = c.largest / equal_parts(c, limit);
    if (c.axes.size() > 1) return equal;
    const bool is_small = 2 * equal < std::min(limit, c.largest);
    if (!elementwise()) return is_small ? bit_floor(limit) : equal;
    const std::int64_t partial = partial_tile(c.largest, limit);
    const auto times = [&](std::int64_t tile) { return accesses(c.largest, tile, size, elements); };
    return is_small || (c.largest > limit && 4 * times(equal) > 5 * times(partial)) ? partial : equal;
  }

  /// Returns whether the group has a reduction, and every reduction is along the last axis of its operand.
  bool rows_are_reduced() const {
    const auto summed = [&](int axis) { return axis >= 0 && axes.axes[axis].summed; };
    return std::ranges::any_of(axes.axes, [](const auto& axis) { return axis.summed; }) &&
           std::ranges::none_of(axes.of, [&](const std::vector<int>& of) {
             return !of.empty() && std::any_of(of.begin(), of.end() - 1, summed);
           });
  }

  /// Returns whether the loaded tiles fit into shared memory together, or each into registers, as rows. Without a loop and
  /// matmuls, tiles that are read once do not count: threads may read them from global memory. The planner counts exactly.
  bool fits(const GroupTiling& t) const {
    double bytes = 0, longest = 0;
    for (std::size_t v = 0; v < steps.values.size(); ++v) {
      if (!steps.values[v].loaded || (!readers.empty() && readers[v] < 2)) continue;
      double size = 1;
      for (int axis : axes.of[v]) {
        if (axis < 0) continue;
        auto extent = static_cast<double>(t.extents.contains(axis) ? t.extents.at(axis) : whole(axis));
        for (const GridCut& c : t.grid)
          if (std::ranges::count(c.axes, axis) > 0) extent /= static_cast<double>(c.blocks);
        if (axis == loop_axis) extent /= static_cast<double>(t.loop);
        size *= extent;
      }
      longest = std::max(longest, size), bytes += size * graph::bits(steps.values[v].dtype) / 8.0;
    }
    return bytes <= static_cast<double>(target.shared_per_block) ||
           (!products && loop_axis < 0 && rows_are_reduced() &&
            longest <= static_cast<double>(selection::max_row_values * t.threads));
  }
};

/// Collects the tilings of one group for one loop axis.
class Tilings {
 public:
  explicit Tilings(TiledGroup of) : of_(std::move(of)) {}

  /// Returns the tilings. If the group has matmuls, their tiles are those of the target's instructions
  /// (tiling/matmul_shapes.hpp). Otherwise a block has about 8192 or 2048 elements, or whole rows in each of its warps.
  std::vector<GroupTiling> run() {
    for (const retile::MatmulTile& t : of_.shapes.tiles)
      if (of_.products) of_.shapes.exact ? add_exactly(t) : add(t);
    for (std::int64_t elements : {8192, 4096, 2048})
      if (!of_.products && (elements != 4096 || of_.rows_are_reduced())) rows(elements);
    if (!of_.products) rows_of_warps();
    return std::exchange(result_, {});
  }

  /// Returns the tilings of run(). If the group has no matmul and these tilings have few blocks, also returns
  /// tilings with 512 elements per block.
  std::vector<GroupTiling> run_all() {
    std::vector<GroupTiling> all = run();
    if (of_.products || all.empty() ||
        !leaves_gpu_idle(
            all.back(), of_.target,
            of_.elementwise() ? of_.target.costs.search.idle_blocks_elementwise : of_.target.costs.search.idle_blocks))
      return all;
    rows(512);
    all.insert(all.end(), result_.begin(), result_.end());
    return all;
  }

 private:
  using Extents = std::map<int, std::int64_t>;
  using Grid = std::vector<std::pair<std::int64_t, GridAxes>>;  // numbers of blocks, and axes split over that many

  /// Adds the tiling in which the tile of matmuls is exactly `t`, as far as it is within them: the last tile along a
  /// dimension may be partial. With A and B swapped the rows are wgmma's N, and the tile is not cut to them.
  void add_exactly(const retile::MatmulTile& t) {
    Grid grid;
    Extents padded;
    const std::pair<std::int64_t, std::int64_t> mn = t.swap_ab ? std::pair{t.n, t.m} : std::pair{t.m, t.n};
    for (const GridAxes& c : of_.may_split) {
      const std::int64_t tile = of_.cap(c, mn), blocks = tile::ceil_div(c.largest, tile);
      if (c.axes.size() > 1 || tile == 1 || c.axes[0] == of_.split_axis) {
        grid.emplace_back(parts(c.largest, c.shared, tile), c);
        continue;
      }
      grid.emplace_back(blocks, c);
      // A warpgroup multiplies a multiple of 8 columns; 70 are padded to a tile's 80.
      const bool is_uneven = t.m % 64 == 0 && tile == mn.second && c.largest % 8 != 0 && tile < c.largest + 16;
      if ((blocks > 1 || t.swap_ab || is_uneven) && blocks * tile != c.largest) padded[c.axes[0]] = blocks * tile;
    }
    if (const std::int64_t n = of_.loop_extent(); n > t.k && n % t.k != 0 && of_.split_axis < 0)
      padded[of_.loop_axis] = of_.padded_loop(t.k);
    finish(std::move(grid), t.k, t.threads, std::move(padded), t);
  }
  /// Adds the tiling with the matmul tile `t`. If equal parts of an axis would be too small or unaligned, also adds
  /// the same tiling with partial tiles.
  void add(const retile::MatmulTile& t) {
    Grid grid;
    for (const GridAxes& c : of_.may_split) grid.emplace_back(parts(c.largest, c.shared, of_.cap(c, {t.m, t.n})), c);
    finish(grid, t.k, t.threads, {}, t);
    // If equal parts are too small or unaligned to an instruction's rows, the last tile may be partial.
    Extents padded;
    for (auto& [blocks, c] : grid)
      if (const std::int64_t limit = of_.cap(c, {t.m, t.n});
          c.axes.size() == 1 && c.axes[0] != of_.split_axis && is_odd(c.largest, blocks, limit)) {
        blocks = (c.largest + limit - 1) / limit;
        padded[c.axes[0]] = blocks > 1 ? blocks * limit : rounded(c.largest);
      }
    if (const std::int64_t n = of_.loop_extent(); n > 0 && of_.split_axis < 0 && is_odd(n, parts(n, n, t.k), t.k))
      padded[of_.loop_axis] = of_.padded_loop(t.k);
    if (!padded.empty()) finish(std::move(grid), t.k, t.threads, std::move(padded), t);
  }

  /// Adds tilings for a group without matmuls. A block has about `elements` elements of the group's largest value.
  void rows(std::int64_t elements) {
    const std::vector<std::int64_t> unsplit = of_.unsplit_sizes();
    const std::int64_t longest = std::ranges::max(unsplit) / of_.along_loop();
    std::vector<GridAxes> inner = of_.may_split;
    std::ranges::stable_sort(inner, {}, &GridAxes::back);
    for (const bool may_pass : {false, true}) {
      if (of_.elementwise() && !may_pass) continue;
      Grid grid;
      Extents padded;
      if (const std::int64_t extent = of_.padded_row_loop(); may_pass && extent > 0) padded[of_.loop_axis] = extent;
      std::vector<std::int64_t> sizes = unsplit;
      bool divides_sectors = false;
      for (const GridAxes& c : inner) {
        std::int64_t left = elements, size = 1;
        for (std::size_t v = 0; v < sizes.size(); ++v)
          if (of_.has(static_cast<int>(v), c)) {
            left = std::clamp<std::int64_t>(elements / sizes[v], 1, left);
            size = std::max(size, sizes[v]);
          }
        const std::int64_t tile =
            may_pass ? of_.tile_along(c, left, size, elements) : c.largest / of_.equal_parts(c, left);
        const std::int64_t blocks = (c.largest + tile - 1) / tile;
        divides_sectors = divides_sectors || (c.back == 0 && tile == 1 && left > 1 && c.largest > 1);
        if (blocks * tile != c.largest) padded[c.axes[0]] = blocks * tile;
        for (std::size_t v = 0; v < sizes.size(); ++v)
          if (of_.has(static_cast<int>(v), c)) sizes[v] *= tile;
        grid.emplace_back(blocks, c);
      }
      if (may_pass && padded.empty() && !of_.elementwise()) break;
      // As equal parts of a prime extent: blocks would read the same sectors. The last tile is partial instead.
      if (!may_pass && divides_sectors) continue;
      // A long row keeps more threads busy; with a small M, the time of one row is the kernel's time.
      for (const int threads : {of_.threads_of(elements), 512, 1024})
        if (threads <= 256 || longest >= 4 * threads) finish(grid, row_tile, threads, padded);
    }
  }

  /// Adds the tiling in which a block of 128 threads has about 8 elements per thread of rows that are reduced, and
  /// all warps have equal numbers of whole rows. Adds none if another tiling has that, or if rows have more than
  /// 1024 elements.
  void rows_of_warps() {
    constexpr std::int64_t threads = 128, warps = threads / 32, longest = 1024;
    const std::int64_t row = std::ranges::max(of_.unsplit_sizes());
    if (of_.loop_axis >= 0 || !of_.rows_are_reduced() || row < 2 || row > longest) return;
    Grid grid;
    for (const GridAxes& c : of_.may_split) grid.emplace_back(c.shared, c);
    const auto rows = std::ranges::min_element(grid, {}, [](const auto& g) { return g.second.back; });
    if (rows == grid.end() || rows->second.axes.size() > 1) return;
    const int axis = rows->second.axes[0];
    for (const GroupTiling& t : result_)
      for (const GridCut& c : t.grid)
        if (c.axes == std::vector{axis} && !t.extents.contains(axis) &&
            of_.whole(axis) / c.blocks % (t.threads / 32) == 0)
          return;
    const std::int64_t few = std::bit_floor(static_cast<std::uint64_t>(8 * threads / row)),
                       tile = std::min(of_.whole(axis), std::max(warps, few));
    rows->first = (of_.whole(axis) + tile - 1) / tile;
    const std::int64_t padded = rows->first * tile;
    finish(grid, row_tile, threads, padded == of_.whole(axis) ? Extents{} : Extents{{axis, padded}});
  }

  /// Adds the tiling with this grid, K tile `k` and `threads` threads, if it is new and its tiles fit into shared
  /// memory. Of more than three entries of `grid`, the three with the most blocks are kept. `padded` are the extents of axes
  /// with a partial tile, `shape` is the tile of matmuls.
  void finish(Grid grid, std::int64_t k, int threads, Extents padded,
              const std::optional<retile::MatmulTile>& shape = {}) {
    std::erase_if(grid, [](const auto& c) { return c.first == 1; });
    std::ranges::stable_sort(grid, [](const auto& x, const auto& y) { return x.first > y.first; });
    if (grid.size() > 3) grid.resize(3);  // the rest is not split
    GroupTiling t;
    t.shape = shape;
    // Adjacent blocks share a tile of the left operand: A or, if they are swapped, B. With the other order two matmuls took
    // 1.05 and 1.13 times as long on an H200.
    const auto place = [&](const auto& c) {
      return t.swaps() && c.second.back < 2 ? 1 - c.second.back : c.second.back;
    };
    std::ranges::stable_sort(grid, {}, place);
    t.threads = threads;
    for (std::size_t i = 0; i < grid.size(); ++i) t.grid[i] = {grid[i].second.axes, grid[i].first};
    t.loop_axis = of_.loop_axis;
    t.extents = std::move(padded);
    if (const std::int64_t n = of_.loop_extent(); t.extents.count(of_.loop_axis) > 0)
      t.loop = tile::ceil_div(n, k);
    else if (of_.loop_axis >= 0)
      t.loop = of_.products ? parts(n, n, k) : parts_of_row(n, k, of_.width());
    if (of_.split_axis >= 0) {
      for (int g = 0; g < 3; ++g)
        if (t.grid[g].axes == std::vector{of_.split_axis}) t.split = g;
      if (t.split < 0) return;
      t.inner_axis = of_.loop_axis, t.loop_axis = of_.split_axis;
    }
    const auto same = [&](const GroupTiling& o) {
      return o.grid == t.grid && o.loop == t.loop && o.threads == t.threads && o.extents == t.extents &&
             o.swaps() == t.swaps();
    };
    if (of_.fits(t) && std::ranges::none_of(result_, same)) result_.push_back(std::move(t));
  }

  const TiledGroup of_;
  std::vector<GroupTiling> result_;
};

/// Returns whether a block that has whole rows reads a loaded row again from global memory: several steps read the row, and
/// it does not fit in half of the shared memory.
bool reads_rows_again(const GroupSteps& s, const Axes& a, const target::Target& target) {
  const std::vector<std::size_t> readers = readers_of(s);
  for (std::size_t v = 0; v < s.values.size(); ++v) {
    if (!s.values[v].loaded || readers[v] < 2) continue;
    std::int64_t row = 1;
    for (int axis : a.of[v])
      if (axis >= 0 && a.axes[axis].summed) row *= a.axes[axis].extent;
    if (target.half_exceeded(graph::bytes_of(row, s.values[v].dtype))) return true;
  }
  return false;
}

/// Returns into how many parts to split a loop of `loop` iterations, where one part has `blocks` blocks: the fewest that
/// keep the GPU busy, those of the next number of iterations, and if `with_max` the most that do not exceed four blocks
/// per multiprocessor. If the loop is not `padded`, the parts are equal.
std::vector<std::int64_t> numbers_of_parts(std::int64_t loop, bool padded, std::int64_t blocks,
                                           const target::Target& target, bool with_max) {
  constexpr std::int64_t limit = 64, max_blocks = 4;
  std::vector<std::int64_t> all;  // one for each number of iterations of a part
  for (std::int64_t each = tile::ceil_div(loop, 2); each >= 1; --each) {
    const std::int64_t s = tile::ceil_div(loop, each);
    if (s > limit) break;
    if ((loop % s == 0 || padded) && (all.empty() || all.back() != s)) all.push_back(s);
  }
  if (all.empty()) return all;
  const auto is_busy = [&](std::int64_t s) { return 4 * blocks * s >= 3 * target.multiprocessors; };
  const auto exceeds = [&](std::int64_t s) { return blocks * s > max_blocks * target.multiprocessors; };
  const auto first = std::min(std::ranges::find_if(all, is_busy), all.end() - 1);
  const auto next = std::min(first + 2, all.end()), beyond = std::ranges::find_if(all, exceeds);
  std::vector<std::int64_t> result(first, next);
  if (with_max && beyond > next) result.push_back(beyond[-1]);
  return result;
}

}  // namespace

std::vector<int> loop_axes(const GroupSteps& s, const Axes& a) {
  std::vector<int> result{-1};
  for (std::size_t axis = 0; axis < a.axes.size(); ++axis) {
    if (!a.axes[axis].summed || a.axes[axis].whole) continue;
    // A value with the axis must not be stored from inside the loop.
    if (std::ranges::none_of(s.outputs, [&](int v) { return a.has(v, static_cast<int>(axis)); }))
      result.push_back(static_cast<int>(axis));
  }
  return result;
}

std::vector<GroupTiling> tilings(const GroupSteps& s, const Axes& a, int loop_axis, const target::Target& target,
                                 const MatmulTiles& shapes) {
  return Tilings({s, a, loop_axis, -1, target, shapes}).run_all();
}

std::vector<GroupTiling> split_tilings(const GroupSteps& s, const Axes& a, int axis, const target::Target& target,
                                       const MatmulTiles& shapes) {
  std::vector<GroupTiling> result;
  std::set<int> inner;
  for (const GroupStep& step : s.steps) {
    if (!is_matmul(step)) continue;
    const int k = a.of[step.inputs[0]].back();
    if (k == axis) return {};
    if (k >= 0 && a.has(step.output, axis)) inner.insert(k);
  }
  for (int k : inner)
    for (GroupTiling& t : Tilings({s, a, k, axis, target, shapes}).run()) result.push_back(std::move(t));
  return result;
}

std::vector<GroupTiling> row_splits(const GroupSteps& s, const Axes& a, const target::Target& target) {
  std::vector<GroupTiling> result;
  if (std::ranges::any_of(s.steps, is_matmul)) return result;
  const std::vector<GroupTiling> whole = tilings(s, a, -1, target);
  if (!reads_rows_again(s, a, target) && std::ranges::any_of(whole, [&](const GroupTiling& t) {
        return !leaves_gpu_idle(t, target, target.costs.search.idle_blocks);
      }))
    return result;
  for (int axis = 0; axis < static_cast<int>(a.axes.size()); ++axis) {
    if (!a.axes[axis].summed || a.axes[axis].whole) continue;
    for (GroupTiling& t : tilings(s, a, axis, target)) {
      t.split = t.free_dimension();
      if (t.split == 3 || t.loop == 1) continue;
      t.grid[t.split] = {{axis}, std::exchange(t.loop, 1)};
      result.push_back(std::move(t));
    }
  }
  return result;
}

std::vector<GroupTiling> splits(const GroupTiling& t, const target::Target& target, bool with_max) {
  std::vector<GroupTiling> result;
  if (t.loop_axis < 0 || t.loop < 2) return result;
  const std::int64_t blocks = t.blocks();
  const int free = t.free_dimension();
  if (free == 3 || 2 * blocks > target.multiprocessors) return result;
  const bool padded = t.extents.count(t.loop_axis) > 0;
  for (const std::int64_t s : numbers_of_parts(t.loop, padded, blocks, target, with_max)) {
    GroupTiling split = t;
    split.grid[free] = {{t.loop_axis}, s};
    split.split = free;
    split.loop = tile::ceil_div(t.loop, s);
    if (padded) split.extents[t.loop_axis] = t.extents.at(t.loop_axis) / t.loop * split.loop * s;
    result.push_back(std::move(split));
  }
  return result;
}

}  // namespace zellige::candidate
