// --tiling: the graph's own tiles, those with the lowest estimated time, or those of a file. Default: the
// lowest estimated time if the target's costs are measured, else the graph's own. The option is resolved in
// run/tiling_option.hpp.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace zellige::cli {

void add_tiling(CLI::App&, std::string& tiling);

}  // namespace zellige::cli
