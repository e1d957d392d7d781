#include "tiling/options.hpp"

namespace zellige::plan {

PlanOptions tiling_options(std::string_view tiling, const target::Target& target) {
  PlanOptions w;
  if (tiling == "chosen" || (tiling.empty() && target.costs.measured))
    w.tiles = Tiles::automatic;
  else if (!tiling.empty() && tiling != "given")
    w.tiles = Tiles::fixed;
  return w;
}

void state(PlanOptions& w, std::string_view json, std::string_view source) {
  w.tiles = Tiles::fixed;
  w.tiling = retile::parse_tiling(json, source);
  w.decomposed = retile::is_decomposed(json, source);
}

}  // namespace zellige::plan
