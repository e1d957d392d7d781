// --tiling: the graph's own tiles, those that price least, or those of a file. Without it: those that price least where the target's
// prices have been measured, else the graph's own. What the word comes to: run/wishes.hpp.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace zellige::cli {

void add_tiling(CLI::App&, std::string& tiling);

}  // namespace zellige::cli
