#include "run/tiling_option.hpp"

#include "graph/shown.hpp"
#include "run/files.hpp"
#include "tiling/options.hpp"

namespace zellige::run {

plan::PlanOptions parse_tiling_option(const std::string& tiling, const target::Target& target) {
  plan::PlanOptions w = plan::tiling_options(tiling, target);
  if (w.tiles != plan::Tiles::fixed) return w;
  constexpr std::size_t max_bytes = std::size_t{1} << 26;
  const std::string text = FileReader(tiling).next(max_bytes + 1), name = graph::shown(tiling);
  if (text.size() > max_bytes)
    fail("{}: expected a manifest or its list of tilings, of at most {} bytes, found more", name, max_bytes);
  plan::state(w, text, name);
  return w;
}

}  // namespace zellige::run
