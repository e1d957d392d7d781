#include "plan/wishes.hpp"

namespace zellige::plan {

Wishes tiling_wish(std::string_view tiling, const target::Target& target) {
  Wishes w;
  if (tiling == "chosen" || (tiling.empty() && target.costs.measured))
    w.tiles = Tiles::chosen;
  else if (!tiling.empty() && tiling != "given")
    w.tiles = Tiles::stated;
  return w;
}

void state(Wishes& w, std::string_view json, std::string_view source) {
  w.tiles = Tiles::stated;
  w.tiling = retile::parse_tiling(json, source);
  w.decomposed = retile::is_decomposed(json, source);
}

}  // namespace zellige::plan
