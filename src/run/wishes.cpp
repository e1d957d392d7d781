#include "run/wishes.hpp"

#include "plan/wishes.hpp"
#include "run/files.hpp"

namespace zellige::run {

plan::Wishes wishes(const std::string& tiling, const target::Target& target) {
  plan::Wishes w = plan::tiling_wish(tiling, target);
  if (w.tiles == plan::Tiles::stated) plan::state(w, read_whole(tiling), tiling);
  return w;
}

}  // namespace zellige::run
