#include "cli/tiling.hpp"

#include "retile/tiling.hpp"
#include "run/files.hpp"

namespace zellige::cli {

void add_tiling(CLI::App& command, std::string& tiling) {
  command
      .add_option("--tiling", tiling,
                  "Tiles of custom operators: given (the graph's own), chosen (those that are expected to "
                  "take least), or a "
                  "file: a manifest, or its list")
      ->capture_default_str();
}

plan::Wishes wishes(const std::string& tiling) {
  plan::Wishes w;
  if (tiling == "chosen") w.tiles = plan::Tiles::chosen;
  if (tiling == "given" || tiling == "chosen") return w;
  w.tiles = plan::Tiles::stated;
  w.tiling = retile::parse_tiling(run::read_whole(tiling), tiling);
  return w;
}

}  // namespace zellige::cli
