#include "tile/dimensions.hpp"

#include <zellige/layout/text.hpp>

namespace zellige::tile {

std::vector<Dimension> dimensions(const TileView& view, const TileProgram& p) {
  std::vector<Dimension> all;
  for (int d = 0; d < view.rank(); ++d) {
    const Interval along = view.along(d, p);
    all.push_back({view.axis(d), view.iterates(d), along.map(), along.origin(), along.end(), along.size(),
                   view.predicated(d), along.of_part()});
  }
  return all;
}

std::optional<Value> add(TileView& view, const Dimension& d, const TileProgram& p) {
  Cut cut{.axis = d.axis,
          .size = d.size,
          .loop = d.iterates,
          .extent = d.end - d.begin,
          .offset = d.begin,
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
