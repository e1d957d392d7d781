#include <algorithm>

#include "selection/tile_schedule.hpp"
#include "tile/open_folds.hpp"
#include "verify/proofs.hpp"
#include "verify/rejected.hpp"

namespace zellige::verify {
namespace {

using tile::SymbolicNumber;

/// Throws Rejected if tiles of the load or store `n` reach outside its tensor without a bounds check.
void check_view(const Kernel& kernel, const Node& n, const TilePrograms& program) {
  const TileProgram& p = kernel.program;
  for (int d = 0; d < n.view.rank(); ++d) {
    const Interval along = n.view.along(d, p);
    const std::int64_t origin = n.view.origin(d);
    const SymbolicNumber end = along.end(program.sizes), reach = along.reach(program.sizes),
                         extent = program.extent(n.tensor, d);
    const bool pages = n.page > 0 && d == n.dim;  // the view is of what the pages' numbers say
    if (pages && (!extent.is_constant() || extent.low() < n.page || (extent.low() - n.page) % n.page_step != 0))
      reject(p, "{} {} reads pages of {} rows, one every {} rows, of dimension {}, which has {} rows",
             tile::name(n.kind), n.name, n.page, n.page_step, d, extent.text());
    if (!pages && less_equal(end, extent) != true)
      reject(p, "{} {} ends at {} of dimension {}, which has {} elements", tile::name(n.kind), n.name, end.text(), d,
             extent.text());
    if (const std::int64_t room = n.view.room(d); room != 0) {
      const std::int64_t padding = n.kind == NodeKind::store ? program.line_padding(n.tensor, d) : 0;
      if (room < 0 || room > padding || less_equal(extent, end) != true)
        reject(p,
               "{} {} may change {} elements beyond {} of dimension {}, where lines of {} elements have {} of padding",
               tile::name(n.kind), n.name, room, end.text(), d, extent.text(), padding);
    }
    if (origin < 0 && (!n.view.predicated(d) || n.kind != NodeKind::store))
      reject(p, "{} {} starts at {} of dimension {}, and nothing guards it", tile::name(n.kind), n.name, origin, d);
    if (less_equal(reach, end) != true && !n.view.predicated(d))
      reject(p, "the tiles of {} {} reach element {} of dimension {}, which has {}, and nothing guards them",
             tile::name(n.kind), n.name, reach.text(), d, end.text());
  }
}

/// Throws Rejected if blocks that divide the loop run beyond its end, and load there anything but the zeros with which TMA
/// fills what lies beyond a tensor.
void check_cluster(const Kernel& kernel, const TilePrograms& program) {
  const TileProgram& p = kernel.program;
  const std::int64_t run = kernel.iterations_per_block() * kernel.parts_of_loop();
  if (run == p.loop) return;
  for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) {
    const Node& n = p.nodes[i];
    for (int d = 0; d < n.view.rank(); ++d) {
      if (!n.view.iterates(d)) continue;
      const Interval along = n.view.along(d, p);
      const SymbolicNumber end = along.end(program.sizes), reach = along.reach(program.sizes);
      if (n.kind == NodeKind::load && kernel.uses_tma(i) && along.axis() < 0 && less_equal(end, reach) == true)
        continue;
      reject(p,
             "{} blocks run {} iterations of a loop of {}, and {} {}, which ends at {} of dimension {}, is not all "
             "zeros there",
             kernel.cluster, run, p.loop, tile::name(n.kind), n.name, end.text(), d);
    }
  }
}

/// Throws Rejected unless each sum and maximum over a dimension that ends at a size sees beyond the end what leaves it unchanged.
void check_folds(const TileProgram& p) {
  const tile::SizeClasses classes(p);
  for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i)
    for (int d = 0; d < p.nodes[i].view.rank(); ++d) {
      const Interval along = p.nodes[i].view.along(d, p);
      if (along.size() < 0 || !p.nodes[i].view.predicated(d)) continue;
      const auto open = tile::open_fold(p, classes, classes.of_view(i, d), along.end() - along.origin());
      if (open)
        reject(p,
               "%{} folds %{} along dimension {}, whose end lies in a tile, and what lies beyond is not {}; a mask is",
               open->fold, open->value, open->dim, open->neutral);
    }
}

/// Throws Rejected if sizes that are known at launch decide a kernel's grid or loop, and the kernel is right for the largest alone.
void check_sizes(const Kernel& kernel, const TilePrograms& program) {
  const TileProgram& p = kernel.program;
  const std::vector<SymbolicNumber> grid = p.grid_of(program.sizes);
  const SymbolicNumber iterations = p.iterations(program.sizes);
  if (std::ranges::all_of(grid, &SymbolicNumber::is_constant) && iterations.is_constant()) return check_folds(p);
  if (kernel.blocks > 0)
    reject(p, "a block takes several tiles, of a grid of ({},{},{})", grid[0].text(), grid[1].text(), grid[2].text());
  if (!iterations.is_constant() && kernel.cluster > 1)
    reject(p, "{} blocks of a cluster share a loop of {} iterations, which are known at launch", kernel.cluster,
           iterations.text());
  if (less_equal(1, iterations) != true || iterations.high() != p.loop)
    reject(p, "{} iterations, of a loop of {}: 1 to {} are right", iterations.text(), p.loop, p.loop);
  for (const Node& n : p.nodes)
    for (int d = 0; d < n.view.rank(); ++d) {
      const Interval along = n.view.along(d, p);
      const SymbolicNumber blocks = along.axis() < 0 ? 1 : grid[along.axis()], tiles = along.tiles(program.sizes);
      if (along.axis() >= 0 && blocks.high() != p.grid[along.axis()])
        reject(p, "{} blocks, of a grid with {} along {}", blocks.text(), p.grid[along.axis()], "xyz"[along.axis()]);
      const bool decides = along.axis() >= 0 && along.counted();
      if (decides ? !along.top() || blocks != tiles * along.run()
                  : !blocks.is_constant() && along.axis() >= 0 && along.top())
        reject(p, "{} blocks have the {} tiles of {} along dimension {}", blocks.text(), tiles.text(), n.name, d);
      if (n.view.iterates(d) &&
          (along.iterations(program.sizes) != iterations || (along.counted() && along.axis() >= 0)))
        reject(p, "{} iterations have the {} tiles of {} along dimension {}", iterations.text(),
               along.iterations(program.sizes).text(), n.name, d);
    }
  check_folds(p);
}

/// Throws Rejected unless what a view says of the sizes that decide its extents is so.
void check_multiples(const TileProgram& p, const TilePrograms& program) {
  for (const Node& n : p.nodes)
    for (int d = 0; d < n.view.rank(); ++d)
      if (const int size = n.view.along(d, p).size(); size >= 0) {
        const std::int64_t divisor = SymbolicNumber::of(program.sizes, size).divisor();
        if (divisor % n.view.multiple(d) != 0)
          reject(p, "dimension {} of {} is {}, a multiple of {}, and its tiles take {} for granted", d, n.name,
                 program.sizes[static_cast<std::size_t>(size)].name, divisor, n.view.multiple(d));
      }
  for (const Node& n : p.nodes)
    for (int d = 0; d < n.view.rank(); ++d)
      if (const int begin = n.view.along(d, p).begin(); begin >= 0) {
        const SymbolicNumber first = SymbolicNumber::of(program.sizes, begin);
        if (first.divisor() % n.view.origin_unit(d) != 0)
          reject(p, "dimension {} of {} begins at {}, a multiple of {}, and its tiles take {} for granted", d, n.name,
                 first.text(), first.divisor(), n.view.origin_unit(d));
        if (first.low() < 0 || first.high() != n.view.origin(d))
          reject(p, "{} {} begins at {} of dimension {}, from {} to {}: 0 to {} are right", tile::name(n.kind), n.name,
                 first.text(), d, first.low(), first.high(), n.view.origin(d));
      }
}

/// Throws Rejected unless the strides of tensors with sizes are those of elements with addresses of their own, for all sizes, and the
/// integers are those of the largest ones.
void check_sized_strides(const TileProgram& p, const TilePrograms& program) {
  tile::ValuesBySize largest;
  for (const tile::Size& size : program.sizes) largest.push_back(size.high);
  for (int t = 0; t < static_cast<int>(program.tensors.size()); ++t) {
    const KernelTensor& tensor = program.tensors[t];
    const int rank = static_cast<int>(tensor.shape.size());
    std::vector<int> inner_first;
    bool sized = program.strides.contains(t);
    for (int d = 0; d < rank; ++d) {
      sized = sized || !program.extent(t, d).is_constant();
      if (tensor.shape[d] > 1) inner_first.push_back(d);
      if (program.stride(t, d).at(largest) != tensor.strides[d])
        reject(p, "the stride of {} along dimension {} is {}, and {} for the largest sizes", tensor.name, d,
               program.stride(t, d).text(), tensor.strides[d]);
    }
    const bool written =
        std::ranges::count(program.inputs, t) == 0 ||
        std::ranges::any_of(program.tensors, [&](const KernelTensor& other) { return other.memory == t; });
    if (!sized || !written || program.view(t) != nullptr) continue;
    std::ranges::stable_sort(inner_first, {}, [&](int d) { return tensor.strides[d]; });
    SymbolicNumber reach = 1;
    for (const int d : inner_first) {
      const SymbolicNumber stride = program.stride(t, d);
      if (less_equal(reach, stride) != true)
        reject(p, "the stride of {} along dimension {} is {}, and the dimensions inside it reach {} elements",
               tensor.name, d, stride.text(), reach.text());
      reach = reach + (program.extent(t, d) + -1) * stride;
    }
  }
}

/// Returns where the tiles of a store lie: along each dimension of its view and, of rows that are stored where indices say,
/// along that of the indices. Each with its dimension.
using Intervals = std::vector<std::pair<int, Interval>>;
Intervals intervals(const TileProgram& p, const Node& n) {
  Intervals all;
  all.reserve(static_cast<std::size_t>(n.view.rank()) + 1);
  for (int d = 0; d < n.view.rank(); ++d) all.emplace_back(d, n.view.along(d, p));
  if (const int indices = tile::number_of(n); indices >= 0) {
    const tile::TileView& rows = p.nodes[static_cast<std::size_t>(indices)].view;
    if (n.dim < rows.rank()) all.emplace_back(n.dim, rows.along(n.dim, p));
  }
  return all;
}

/// Throws Rejected unless the blocks' indices along `axis` number the tiles of the store `n`: each combination of its
/// dimensions' tiles is that of one block.
void check_axis(const TileProgram& p, const Node& n, const Intervals& all, int axis) {
  std::vector<Interval> digits;  // `run` neighbours have the same one of `tiles` values
  for (const auto& [d, along] : all)
    if (along.axis() == axis && along.tiles() > 1) digits.push_back(along);
  std::ranges::sort(digits, {}, [](const Interval& digit) { return std::pair(digit.run(), digit.tiles()); });
  const char letter = "xyz"[axis];
  std::int64_t below = 1;
  for (const Interval& digit : digits) {
    if (digit.run() > below)
      reject(p, "store {} has one tile for {} blocks along {}, and {} of them differ in their other tiles", n.name,
             digit.run(), letter, below);
    if (digit.run() < below)
      reject(p, "store {} has another tile every {} blocks along {}, of which {} number another dimension's tiles",
             n.name, digit.run(), letter, below);
    below *= digit.tiles();
  }
  if (below > p.grid[axis] && !digits.empty()) {  // the highest digit's last value has a part of its blocks
    const Interval& top = digits.back();
    if (top.origin() + top.first(p.grid[axis] / top.run(), std::int64_t{0}) >= top.end()) return;
  }
  if (below != p.grid[axis])
    reject(p,
           "store {} has {} different tiles along {} of the grid, which has {} blocks there: each tile must be one "
           "block's",
           n.name, below, letter, p.grid[axis]);
}

/// Throws Rejected unless the tiles of the store `n` reach from where it begins to its end.
void check_reach(const TileProgram& p, const Node& n, const Intervals& all, const TilePrograms& program) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [d, along] = all[i];
    if (n.view.iterates(d))
      reject(p, "store {} has another tile in each iteration along dimension {}, and is done once, after the loop",
             n.name, d);
    if (along.size() < 0 && along.end() <= along.reach()) continue;
    // One element where an index says, of a view's dimension that has the places that the index may name.
    const bool placed =
        i < static_cast<std::size_t>(n.view.rank()) && tile::number_of(n) >= 0 && d == n.dim && n.to == 1;
    if (placed && n.view.tile(d) == 1 && along.axis() < 0) continue;
    const SymbolicNumber end = along.end(program.sizes), reach = along.reach(program.sizes);
    if (less_equal(end, reach) != true)
      reject(p,
             "the tiles of store {} end at {} of dimension {}, and the store at {}: nothing writes what lies between",
             n.name, reach.text(), d, end.text());
  }
}

/// Throws Rejected unless the blocks that the launch has take every tile of the grid once.
void check_blocks(const Kernel& k) {
  const TileProgram& p = k.program;
  const std::int64_t tiles = p.grid.count() * k.parts_of_loop();
  if (k.split_k && k.cluster == 1)
    reject(k, "is split_k and has clusters of 1 block; the loop is divided between 2 at least");
  if (k.blocks == 0) {
    if (p.grid.x % k.cluster != 0)
      reject(p, "has {} blocks along x; clusters of {} do not divide them", p.grid.x, k.cluster);
    if (k.cluster > 1 && kernel::find_work(k, [](const Work&) { return true; }))
      reject(p, "has clusters of {} blocks, and blocks of one tile each; persistent blocks alone share tiles",
             k.cluster);
    return;
  }
  if (k.blocks % k.cluster != 0 || k.blocks > tiles)
    reject(p, "{} blocks in clusters of {} take {} tiles; blocks are whole clusters, and at most one for each tile",
           k.blocks, k.cluster, tiles);
  const std::int64_t each = tile::ceil_div(tiles, k.blocks);
  for (const Agent& agent : k.agents) {
    int loops = 0;
    walk(agent.steps, [&](const Step& step, const StepPosition& at) {
      const Loop* loop = as<Loop>(step);
      if (!loop || loop->kind != Loop::tiles) return;
      if (++loops > 1 || at.depth > 0)
        reject(p, "{} has a loop over tiles in {} after another, or in one", agent.name,
               kernel::describe(step, at.index));
      if (loop->from != 0 || loop->trip_count != each || loop->each != k.iterations_per_block())
        reject(p, "{} takes tiles {} to {} of {} iterations each; {} blocks take {} of {} iterations", agent.name,
               loop->from, loop->trip_count, loop->each, k.blocks, each, k.iterations_per_block());
    });
    if (loops == 0) reject(p, "{} blocks take several tiles, and {} has no loop over them", k.blocks, agent.name);
  }
  const std::int64_t rows = k.cluster / k.parts_of_loop();  // blocks of a cluster with different tiles
  if (rows == 1) return;
  const selection::TileSchedule order = selection::tile_schedule(k);
  if (order.rows % rows != 0 || order.rows == 0)
    reject(p, "{} blocks of a cluster take rows of tiles, of which there are {}", rows, order.rows);
}

}  // namespace

void verify_parts(const TilePrograms& program) {
  const auto end_at = [&](const Node& part, int dim, const SymbolicNumber& first) {
    for (const TileProgram& k : program.kernels)
      for (const Node& n : k.nodes) {
        if (n.kind != NodeKind::store || program.memory_of(n.tensor) != program.memory_of(part.tensor)) continue;
        for (int d = 0; d < n.view.rank(); ++d)
          if (program.stride(n.tensor, d) == program.stride(part.tensor, dim) &&
              n.view.along(d, k).end(program.sizes) == first)
            return true;
      }
    return false;
  };
  for (const TileProgram& k : program.kernels)
    for (const Node& n : k.nodes)
      for (int d = 0; n.kind == NodeKind::store && d < n.view.rank(); ++d) {
        const Interval along = n.view.along(d, k);
        if (along.begin() < 0) continue;
        if (const SymbolicNumber first = along.origin(program.sizes); !end_at(n, d, first))
          reject(k, "store {} begins at {} of dimension {}, and no store ends there", n.name, first.text(), d);
      }
}

void verify_coverage(const Kernel& k, const TilePrograms& program) {
  const TileProgram& p = k.program;
  for (const Node& n : p.nodes) {
    if (tile::accesses(n)) check_view(k, n, program);
    if (n.kind != NodeKind::store) continue;
    const Intervals all = intervals(p, n);
    check_reach(p, n, all, program);
    for (int axis = 0; axis < 3; ++axis) check_axis(p, n, all, axis);
  }
  if (!program.sizes.empty()) check_multiples(p, program), check_sizes(k, program), check_sized_strides(p, program);
  check_cluster(k, program);
  check_blocks(k);
}

}  // namespace zellige::verify
