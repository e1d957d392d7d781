#include "lower/size_digits.hpp"

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::lower {
namespace {

/// A digit of the index along an axis.
struct IndexDigit {
  std::int64_t run = 1, tiles = 1;
  int size = -1;  // that decides `tiles`; -1: a constant
  auto operator<=>(const IndexDigit&) const = default;
};

std::int64_t& extent(graph::Dim3& grid, int axis) { return axis == 0 ? grid.x : axis == 1 ? grid.y : grid.z; }

/// Returns the digits along an axis, the lowest first. Throws Error if sizes decide some, and they are not all of the index.
std::vector<IndexDigit> digits_of(const tile::TileProgram& p, int axis, const tile::SizeList& sizes) {
  std::vector<IndexDigit> all;
  for (const tile::Node& n : p.nodes)
    for (int d = 0; d < n.view.rank(); ++d) {
      const tile::Interval along = n.view.along(d, p);
      if (along.axis() != axis) continue;
      const IndexDigit digit{along.run(), along.tiles(), along.counted() ? along.size() : -1};
      if (std::ranges::count(all, digit) == 0) all.push_back(digit);
    }
  std::ranges::sort(all);
  std::int64_t below = 1;
  const auto sized = std::ranges::find_if(all, [](const IndexDigit& digit) { return digit.size >= 0; });
  if (sized == all.end()) return {};
  for (const IndexDigit& digit : all) {
    if (digit.run != below)
      fail("{}: the index along {} has a digit of {} for the tiles of {}, and digits of {} before it", p.name,
           "xyz"[axis], digit.run, sizes[sized->size].name, below);
    below *= digit.tiles;
  }
  if (below != p.grid[axis])
    fail("{}: the tiles of {} and others along {} are {}, in a grid of {}", p.name, sizes[sized->size].name,
         "xyz"[axis], below, p.grid[axis]);
  return all;
}

}  // namespace

void order_digits(tile::TileProgram& p, const tile::SizeList& sizes) {
  for (int axis = 0; axis < 3; ++axis) {
    const std::vector<IndexDigit> digits = digits_of(p, axis, sizes);
    std::vector<std::pair<IndexDigit, std::pair<int, std::int64_t>>> moved;  // to an axis, and a run there
    std::int64_t below = 1;
    for (const IndexDigit& digit : digits)
      if (digit.size < 0) moved.push_back({digit, {axis, below}}), below *= digit.tiles;
    int to = axis;
    for (const IndexDigit& digit : digits) {
      if (digit.size < 0) continue;
      if (to != axis) {
        for (to = 0; to < 3 && p.grid[to] > 1; ++to) {
        }
        if (to == 3) fail("{}: the blocks have no other axis for the tiles of {}", p.name, sizes[digit.size].name);
        extent(p.grid, axis) /= digit.tiles, extent(p.grid, to) = digit.tiles;
      }
      moved.push_back({digit, {to, to == axis ? below : 1}});
      to = -1;
    }
    if (digits.size() < 2) continue;
    const std::int64_t own = p.grid[axis];
    for (tile::Node& n : p.nodes)
      for (int d = 0; d < n.view.rank(); ++d) {
        tile::Cut& cut = n.view.cuts[d];
        if (cut.axis != axis) continue;
        const graph::Dim3 grid = p.grid;
        std::int64_t before = 1;  // the index had all digits
        for (const IndexDigit& digit : digits) before *= digit.tiles;
        extent(p.grid, axis) = before;
        const tile::Interval along = n.view.along(d, p);
        const IndexDigit digit{along.run(), along.tiles(), along.counted() ? along.size() : -1};
        p.grid = grid;
        const auto at = std::ranges::find(moved, digit, [](const auto& m) { return m.first; })->second;
        const bool top = at.first != axis || at.second * digit.tiles == own;
        cut.axis = at.first, cut.div = at.second, cut.mod = top ? 0 : digit.tiles;
      }
  }
}

}  // namespace zellige::lower
