#include "cli/tiling.hpp"

namespace zellige::cli {

void add_tiling(CLI::App& command, std::string& tiling) {
  command.add_option(
      "--tiling", tiling,
      "Tile sizes of custom operators: given (as in the graph), chosen (by the cost model, which may also "
      "decompose and re-fuse custom operators), or FILE (replay a manifest). Default: chosen on sm_90a, "
      "given "
      "elsewhere");
}

}  // namespace zellige::cli
