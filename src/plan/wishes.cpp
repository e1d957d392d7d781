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

}  // namespace zellige::plan
