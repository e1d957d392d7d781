#include "tile/view.hpp"

#include <algorithm>
#include <numeric>
#include <zellige/layout/algebra/complement.hpp>
#include <zellige/layout/text.hpp>

#include "tile/program.hpp"

namespace zellige::tile {

Interval::Interval(const Cut& cut, const TileProgram& p)
    : cut_(cut), blocks_(cut.axis < 0 ? 1 : p.grid[cut.axis]), iterations_(cut.loop ? p.loop : 1) {}

std::int64_t Interval::tiles() const {
  const std::int64_t all = ceil_div(blocks_, cut_.div);
  return cut_.mod > 0 ? std::min(cut_.mod, all) : all;
}

bool Interval::top() const { return cut_.mod <= 0 || cut_.div * cut_.mod >= blocks_; }

Value Interval::map(Num tiles) const {
  const auto mode = [](std::int64_t extent, std::int64_t stride) {
    return mode_node(fixed(extent), {fixed(extent > 1 ? stride : 0)});
  };
  Value all = empty(ValueKind::layout);
  const auto step = mode_node(tiles, {fixed(tiles.is(1) ? 0 : iterations_ * cut_.tile)});
  if (run() == 1 && top()) {
    all.add(step);
  } else {
    Value block = empty(ValueKind::layout);
    block.add(mode(run(), 0)), block.add(step);
    if (!top()) block.add(mode(ceil_div(blocks_, run() * this->tiles()), 0));
    all.add(block);
  }
  const Num iterations = counted() && cut_.loop ? dynamic(iterations_) : fixed(iterations_);
  all.add(mode_node(iterations, {fixed(iterations_ > 1 ? cut_.tile : 0)})), all.add(mode(cut_.tile, 1));
  return all;
}

SymbolicNumber Interval::reach(const SizeList& sizes) const {
  if (size() >= 0 && !counted()) return SymbolicNumber(reach() - origin()) + origin(sizes);
  if (size() >= 0 && axis() < 0) return (cut_.loop ? iterations(sizes) * cut_.tile : cut_.tile) + origin(sizes);
  values::Tape tape(1);
  const Num last = algebra::cosize_of(tape, map(size() < 0 ? fixed(tiles()) : values::expression(0)));
  return value_of(tape, last, tiles(sizes)) + origin(sizes);
}

std::int64_t Interval::inside(std::int64_t iteration) const {
  const std::int64_t tiles = this->tiles(), whole = cut_.extent / cut_.tile - (cut_.loop ? iteration : 0);
  const bool partial = whole >= 0 && whole % iterations_ == 0 && whole / iterations_ < tiles;
  return std::clamp<std::int64_t>(ceil_div(whole, iterations_), 0, tiles) * cut_.tile +
         (partial ? cut_.extent % cut_.tile : 0);
}

TileView TileView::over_grid(const Shape& extent, const Shape& tile, const Shape& steps) {
  TileView v{std::vector<Cut>(extent.size())};
  std::int64_t div = 1;
  for (std::size_t d = extent.size(); d-- > 0; div *= steps[d]) {
    Cut& c = v.cuts[d];
    c.tile = extent[d] > 1 && steps[d] == 1 ? tile[d] : std::min(tile[d], extent[d]);
    c.extent = extent[d];
    if (steps[d] > 1 && extent[d] > 1) c.axis = 0, c.div = div, c.mod = steps[d];
    c.overhang = steps[d] > 1 ? extent[d] % c.tile != 0 : c.tile > extent[d];
  }
  return v;
}

void TileView::move(const Shape& by) {
  for (std::size_t d = 0; d < by.size(); ++d) cuts[d].offset += by[d];
}

bool TileView::predicated() const { return std::ranges::any_of(cuts, &Cut::overhang); }
bool TileView::iterates() const { return std::ranges::any_of(cuts, &Cut::loop); }

bool TileView::ends_with_loop(const TileProgram& p) const {
  for (int d = 0; d < rank(); ++d)
    if (const Interval here = along(d, p);
        iterates(d) && (here.axis() >= 0 || here.size() >= 0 || here.reach() < here.end()))
      return false;
  return true;
}

std::int64_t TileView::alignment(int dim) const { return std::gcd(origin_unit(dim), fixed(dim) ? 0 : tile(dim)); }

std::int64_t TileView::tiles(const TileProgram& p) const {
  std::int64_t all = 1;
  for (int d = 0; d < rank(); ++d) all *= along(d, p).tiles();
  return all;
}

std::uint64_t TileView::inside(const TileProgram& p, std::int64_t iteration) const {
  std::uint64_t all = 1;
  for (int a = -1; a < 3; ++a) {
    const std::int64_t blocks = a < 0 ? 1 : p.grid[a];
    std::int64_t product = 1, combinations = 1, sum = 0;
    bool separate = true;  // distinct digits of one index take all combinations equally often
    for (int d = 0; d < rank(); ++d) {
      if (axis(d) != a) continue;
      const Interval here = along(d, p);
      product *= here.inside(iteration), combinations *= here.tiles();
      separate = separate && blocks % (here.run() * here.tiles()) == 0;
      for (int e = 0; e < d; ++e) {
        const Interval other = along(e, p);
        separate = separate && (axis(e) != a || here.run() % (other.run() * other.tiles()) == 0 ||
                                other.run() % (here.run() * here.tiles()) == 0);
      }
    }
    for (std::int64_t block = 0, here = 1; !separate && block < blocks; ++block, sum += here, here = 1)
      for (int d = 0; d < rank(); ++d)
        if (axis(d) == a) here *= std::clamp<std::int64_t>(end(d) - along(d, p).start(block, iteration), 0, tile(d));
    all *= static_cast<std::uint64_t>(separate ? product * (blocks / combinations) : sum);
  }
  return all;
}

std::vector<Dimension> dimensions(const TileView& view, const TileProgram& p) {
  std::vector<Dimension> all;
  for (int d = 0; d < view.rank(); ++d) {
    const Interval along = view.along(d, p);
    all.push_back({view.axis(d), view.iterates(d), along.map(), along.origin(), along.end(), along.begin(),
                   view.cuts[d].begin_unit, along.size(), view.cuts[d].multiple, view.cuts[d].all_tiles,
                   view.predicated(d), along.of_part(), view.room(d)});
  }
  return all;
}

std::optional<Value> add(TileView& view, const Dimension& d, const TileProgram& p) {
  Cut cut{.axis = d.axis,
          .size = d.size,
          .multiple = d.multiple,
          .all_tiles = d.all_tiles,
          .loop = d.iterates,
          .extent = d.end - d.begin,
          .offset = d.begin,
          .begin = d.begin_size,
          .begin_unit = d.begin_unit,
          .room = d.room,
          .overhang = d.predicated,
          .of_part = d.of_part};
  if (d.map.is_layout() && d.map.rank() == 3) {
    const values::View all = d.map, block = all[0];
    if (block.rank() > 1 && block[0].is_leaf()) cut.div = block[0].root().s.v;
    if (block.rank() > 2 && block[1].is_leaf()) cut.mod = block[1].root().s.v;
    if (all[2].is_leaf()) cut.tile = all[2].root().s.v;
  }
  if (cut.div < 1 || cut.mod < 0 || cut.tile < 1) cut.div = 1, cut.mod = 0, cut.tile = 1;
  view.cuts.push_back(cut);
  Value of_cut = Interval(cut, p).map();
  return to_text(of_cut) == to_text(d.map) ? std::nullopt : std::optional(std::move(of_cut));
}

}  // namespace zellige::tile
