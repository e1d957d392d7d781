#include "cli/tiling.hpp"

#include "plan/wishes.hpp"
#include "run/files.hpp"

namespace zellige::cli {

void add_tiling(CLI::App& command, std::string& tiling) {
  command.add_option(
      "--tiling", tiling,
      "Tiles of custom operators: given (the graph's own), chosen (those that are expected to "
      "take clearly less; custom operators are taken apart and fused anew where that takes less still), or a "
      "file: a manifest, or its list (default: chosen for sm_90a, given for others)");
}

plan::Wishes wishes(const std::string& tiling, const target::Target& target) {
  plan::Wishes w = plan::tiling_wish(tiling, target);
  if (w.tiles == plan::Tiles::stated) plan::state(w, run::read_whole(tiling), tiling);
  return w;
}

}  // namespace zellige::cli
