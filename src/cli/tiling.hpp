// Adds the option --tiling, which selects the tile sizes of custom operators (fused kernels): those of the
// graph, those that the cost model chooses, or those of a file. The default is the cost model's choice if the
// target's costs were measured, otherwise the sizes of the graph. run/tiling_option.hpp interprets the value.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace zellige::cli {

/// Adds the option --tiling to a command. Its value is stored in `tiling`.
void add_tiling(CLI::App&, std::string& tiling);

}  // namespace zellige::cli
