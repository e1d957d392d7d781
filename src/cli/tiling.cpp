#include "cli/tiling.hpp"

namespace zellige::cli {

void add_tiling(CLI::App& command, std::string& tiling) {
  command.add_option(
      "--tiling", tiling,
      "Tiles of custom operators: given (the graph's own), chosen (those that are expected to "
      "take clearly less; custom operators are taken apart and fused anew where that takes less still), or a "
      "file: a manifest, or its list (default: chosen for sm_90a, given for others)");
}

}  // namespace zellige::cli
